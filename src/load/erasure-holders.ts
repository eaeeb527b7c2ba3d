// Lists the tests, notes and saved views that have the value of an erasure or were drafted from its traces, and edits those that
// were chosen.

import { type Criterion, type ErasureChoices, isSearchable } from "../model/erasure.ts";
import { Refusal } from "../model/refusal.ts";
import type { TestCaseDocument } from "../model/test-case/document.ts";
import { sourcesOf } from "../model/test-case/inputs.ts";
import { documentOf, parseTestCase } from "../model/test-case/test-case.ts";
import {
  eraseIn,
  eraseInJson,
  excerptInJson,
  excerptOf,
  type TextSearch,
} from "../redaction/erasure/escaped-text.ts";
import type { Database } from "../store/db.ts";
import {
  deleteDraftedBacktests,
  deleteViewsOf,
  type HeldNote,
  type HeldView,
  listMatched,
  listNotesToSearch,
  listTestsOfProject,
  listTestsToSearch,
  listViewsOfProject,
  rewriteNote,
} from "../store/erasures/holders.ts";
import { listAgentsToScan } from "../store/erasures/scan.ts";
import { oldest } from "../store/listing.ts";
import { findTestCase, updateTestCase } from "../store/test-cases.ts";

/** Beside traces, an ID is found as a whole word only. Null: it is too short to be looked for. */
export function textSearchOf(criterion: Criterion): TextSearch | null {
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

export type ChosenEdits = { id: string; projectId: string; criterion: Criterion; choices: ErasureChoices };

/**
 * Takes the value out of the chosen tests and notes, disables the chosen tests that were drafted from a trace that is to be
 * erased, and deletes the chosen views and, chosen or not, the backtests of such drafts; how many tests, notes and views were changed.
 */
export async function editChosen(
  db: Database,
  { id, projectId, criterion, choices: { testIds, noteIds, viewIds } }: ChosenEdits,
): Promise<number> {
  for (const agent of await listAgentsToScan(db, projectId)) await deleteDraftedBacktests(db, id, agent.id);
  let edited = await deleteViewsOf(db, projectId, viewIds);
  const search = textSearchOf(criterion);
  for (const noteId of search ? noteIds : []) {
    if (await rewriteNote(db, projectId, noteId, note => eraseIn(note, search!))) edited++;
  }
  for (const testId of await listTestsOfProject(db, projectId, testIds)) {
    if (await editTest(db, id, testId, search)) edited++;
  }
  return edited;
}

async function editTest(
  db: Database,
  erasureId: string,
  id: string,
  search: TextSearch | null,
): Promise<boolean> {
  const sources = sourcesOf((await findTestCase(db, id)) ?? {});
  const isDrafted = (await listMatched(db, erasureId, sources)).size > 0;
  try {
    const edited = await updateTestCase(db, id, current => {
      const { draftedFrom, ...words } = documentOf(current);
      const has = search !== null && excerptInJson(words, search) !== null;
      // Rolls back: a test that stays as it is gets no new version.
      if (!has && !(isDrafted && words.status === "active")) throw unchanged;
      const erased = has ? valid(eraseInJson(words, search) as TestCaseDocument) : words;
      const isDisabled = isDrafted || (has && decidesBy(words, search));
      return {
        ...erased,
        ...(draftedFrom !== undefined && { draftedFrom }),
        ...(isDisabled && { status: "disabled" as const }),
      };
    });
    return edited !== undefined;
  } catch (error) {
    if (error !== unchanged) throw error;
    return false;
  }
}

const unchanged = new Error("The test stays as it is.");

/** Whether a check has the value: as `[erased]`, which is a valid pattern too, it would decide something else. */
function decidesBy({ assertions }: TestCaseDocument, search: TextSearch): boolean {
  return (
    excerptInJson(
      assertions.map(({ description: _, ...decides }) => decides),
      search,
    ) !== null
  );
}

/** A test that is not valid without the value is disabled. */
function valid(document: TestCaseDocument): TestCaseDocument {
  try {
    return parseTestCase(JSON.parse(JSON.stringify(document)));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { ...document, status: "disabled" };
  }
}
