// Lists the tests, notes and saved views that have the value of an erasure or were drafted from its traces, and deletes what was
// made of drafted tests.

import { type Criterion, isSearchable } from "../model/erasure.ts";
import { sourcesOf } from "../model/test-case/inputs.ts";
import { excerptInJson, excerptOf, type TextSearch } from "../redaction/erasure/escaped-text.ts";
import type { Database } from "../store/db.ts";
import {
  deleteBacktests,
  deleteManualRuns,
  listDraftedBacktests,
  listDrafts,
} from "../store/erasures/drafts.ts";
import {
  type HeldNote,
  type HeldView,
  listMatched,
  listNotesToSearch,
  listTestsToSearch,
  listViewsOfProject,
} from "../store/erasures/holders.ts";
import { listAgentsToScan } from "../store/erasures/scan.ts";
import { oldest } from "../store/listing.ts";

/** Beside traces, an ID is found as a whole word only. Null: it is too short to be looked for. */
function textSearchOf(criterion: Criterion): TextSearch | null {
  if (!isSearchable(criterion)) return null;
  return { values: criterion.values, wholeWords: criterion.kind !== "text" };
}

export type ErasureHolders = {
  /** `excerpt` is empty without the value; `draftedFrom` is null unless it is one of the found traces. */
  tests: { id: string; agentId: string; name: string; excerpt: string; draftedFrom: string | null }[];
  notes: (Omit<HeldNote, "note"> & { excerpt: string })[];
  views: (Omit<HeldView, "search"> & { excerpt: string })[];
  /** Whether there are more of a kind than are listed. */
  more: boolean;
};

const listedMax = 200;
const testsAtOnce = 20;

export async function findHolders(
  db: Database,
  { id, projectId, criterion }: { id: string; projectId: string; criterion: Criterion },
): Promise<ErasureHolders> {
  const found: ErasureHolders = { tests: [], notes: [], views: [], more: false };
  const add = <T>(list: T[], item: T) => {
    if (list.length < listedMax) list.push(item);
    else found.more = true;
  };
  const search = textSearchOf(criterion);
  for (const { search: filters, ...view } of await listViewsOfProject(db, projectId)) {
    const excerpt = excerptInView(criterion, search, view.name, filters);
    if (excerpt !== null) add(found.views, { ...view, excerpt });
  }
  for (const agent of await listAgentsToScan(db, projectId)) {
    for (let after = oldest; ; ) {
      const tests = await listTestsToSearch(db, agent.id, after, testsAtOnce);
      const sources = tests.flatMap(({ document }) => sourcesOf(document));
      const matched = await listMatched(db, id, sources);
      for (const { inputs, ...test } of tests) {
        const { draftedFrom: _, ...words } = test.document;
        const excerpt = search && (excerptInJson(words, search) ?? excerptInJson(inputs, search));
        const draftedFrom = sourcesOf(test.document).find(source => matched.has(source)) ?? null;
        if (excerpt === null && draftedFrom === null) continue;
        const { id, agentId, name } = test;
        add(found.tests, { id, agentId, name, excerpt: excerpt ?? "", draftedFrom });
      }
      if (tests.length < testsAtOnce) break;
      after = tests.at(-1)!.id;
    }
    if (!search) continue;
    for (const { note, ...about } of await listNotesToSearch(db, id, agent.id)) {
      const excerpt = excerptOf(note, search);
      if (excerpt !== null) add(found.notes, { ...about, excerpt });
    }
  }
  return found;
}

function excerptInView(
  { kind, values }: Criterion,
  search: TextSearch | null,
  name: string,
  filters: Record<string, string>,
): string | null {
  const filter = kind === "userId" || kind === "conversationId" ? filters[kind] : undefined;
  if (filter !== undefined && values.includes(filter)) return filter;
  return search && (excerptOf(name, search) ?? excerptInJson(filters, search, true));
}

/** Deletes the backtests and manual runs of tests that were drafted from a trace which the erasure found. */
export async function eraseDrafts(
  db: Database,
  { id: erasureId, projectId }: { id: string; projectId: string },
): Promise<void> {
  for (const { id: agentId } of await listAgentsToScan(db, projectId)) {
    const backtests = await listDraftedBacktests(db, agentId);
    const tests = (await listDrafts(db, agentId)).map(({ id, document }) => ({
      id,
      draftedFrom: sourcesOf(JSON.parse(document)),
    }));
    const sources = [...backtests, ...tests].flatMap(({ draftedFrom }) => draftedFrom);
    const matched = await listMatched(db, erasureId, sources);
    const quoting = (made: typeof tests) =>
      made.filter(({ draftedFrom }) => draftedFrom.some(source => matched.has(source))).map(({ id }) => id);
    await deleteBacktests(db, agentId, quoting(backtests));
    await deleteManualRuns(db, agentId, quoting(tests));
  }
}
