// Lists the tests, notes and saved views that have the value of an erasure, and takes it out of those that were chosen.

import { type Criterion, type ErasureChoices, isSearchable } from "../model/erasure.ts";
import { Refusal } from "../model/refusal.ts";
import type { TestCaseDocument } from "../model/test-case/document.ts";
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
  deleteViewsOf,
  type HeldNote,
  type HeldView,
  listNotesToSearch,
  listTestsOfProject,
  listTestsToSearch,
  listViewsOfProject,
  rewriteNote,
} from "../store/erasures/holders.ts";
import { listAgentsToScan } from "../store/erasures/scan.ts";
import { oldest } from "../store/listing.ts";
import { updateTestCase } from "../store/test-cases.ts";

/** Beside traces, an ID is found as a whole word only. Null: it is too short to be looked for. */
export function textSearchOf(criterion: Criterion): TextSearch | null {
  if (!isSearchable(criterion)) return null;
  return { values: criterion.values, wholeWords: criterion.kind !== "text" };
}

export type ErasureHolders = {
  tests: { id: string; agentId: string; name: string; excerpt: string }[];
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
  if (!search) return found;
  for (const agent of await listAgentsToScan(db, projectId)) {
    for (let after = oldest; ; ) {
      const tests = await listTestsToSearch(db, agent.id, after, testsAtOnce);
      for (const { id, agentId, name, document, inputs } of tests) {
        const excerpt = excerptInJson(document, search) ?? excerptInJson(inputs, search);
        if (excerpt !== null) add(found.tests, { id, agentId, name, excerpt });
      }
      if (tests.length < testsAtOnce) break;
      after = tests.at(-1)!.id;
    }
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

/** Takes the value out of the chosen tests and notes, and deletes the chosen views; how many were changed. */
export async function editChosen(
  db: Database,
  projectId: string,
  criterion: Criterion,
  { testIds, noteIds, viewIds }: ErasureChoices,
): Promise<number> {
  let edited = await deleteViewsOf(db, projectId, viewIds);
  const search = textSearchOf(criterion);
  if (!search) return edited;
  for (const id of noteIds) {
    if (await rewriteNote(db, projectId, id, note => eraseIn(note, search))) edited++;
  }
  for (const id of await listTestsOfProject(db, projectId, testIds)) {
    if (await editTest(db, id, search)) edited++;
  }
  return edited;
}

async function editTest(db: Database, id: string, search: TextSearch): Promise<boolean> {
  try {
    const edited = await updateTestCase(db, id, current => {
      const document = documentOf(current);
      // Rolls back: a test that has not the value any more gets no new version.
      if (excerptInJson(document, search) === null) throw unchanged;
      const erased = valid(eraseInJson(document, search) as TestCaseDocument);
      return decidesBy(document, search) ? { ...erased, status: "disabled" } : erased;
    });
    return edited !== undefined;
  } catch (error) {
    if (error !== unchanged) throw error;
    return false;
  }
}

const unchanged = new Error("The test does not have the value.");

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
