// Bulk actions on test cases: activate, disable, duplicate, export and delete, with errors per test.

import type { ListedTest } from "../../src/http/test-cases/schemas.ts";
import type { TestCaseDocument } from "../../src/model/test-case/document.ts";
import type { Answer, Failure } from "../api.ts";
import { createTest, deleteTest, setTestStatuses } from "../mutations/tests.ts";

/** Why an action failed for a test. `testId` and `name` null: for all of them. */
export type Problem = { testId: string | null; name: string | null; message: string };

/** A bulk action that failed for some tests; `what` is the title of the error: "Not activated". */
export type BulkFailure = { what: string; problems: Problem[] };

/** The API's limit per request. */
const switchedMax = 1000;
const deletedAtOnce = 4;
const nameMax = 200;
const sourcesMax = 1_000;

/** Activates or disables tests in requests of 1,000; each request changes all of its tests or none. */
export async function switchTests(
  agentId: string,
  tests: readonly ListedTest[],
  status: TestCaseDocument["status"],
): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (let from = 0; from < tests.length; from += switchedMax) {
    const some = tests.slice(from, from + switchedMax);
    const ids = some.map(({ id }) => id);
    const answer = await setTestStatuses(agentId, ids, status);
    if (!answer.ok) problems.push(...problemsOf(answer.failure, some));
  }
  return problems;
}

/** Issues name a test by its position in the request: `testIds[3].assertions`. */
function problemsOf(failure: Failure, tests: readonly ListedTest[]): Problem[] {
  const byTest = new Map<ListedTest, string[]>();
  for (const { path, message } of failure.issues ?? []) {
    const test = tests[Number(/^testIds\[(\d+)\]/.exec(path)?.[1])];
    if (test) byTest.set(test, [...(byTest.get(test) ?? []), message]);
  }
  if (byTest.size === 0) return [{ testId: null, name: null, message: messageOf(failure) }];
  return [...byTest].map(([{ id, name }, messages]) => ({ testId: id, name, message: messages.join(" ") }));
}

/** A test that no longer exists counts as deleted. */
export async function deleteTests(tests: readonly ListedTest[]): Promise<Problem[]> {
  const problems: Problem[] = [];
  const waiting = [...tests];
  const work = async () => {
    for (let test = waiting.shift(); test; test = waiting.shift()) {
      const answer = await deleteTest(test.id);
      if (!answer.ok) problems.push(problemOf(test, answer.failure));
    }
  };
  await Promise.all(Array.from({ length: deletedAtOnce }, work));
  return problems;
}

/** Creates a disabled copy. */
export function duplicateTest(agentId: string, test: ListedTest): Promise<Answer<ListedTest>> {
  const end = " (copy)";
  const name = `${wellFormed(test.name.slice(0, nameMax - end.length))}${end}`;
  return createTest(agentId, { ...documentOf(test), name, status: "disabled" });
}

/** Downloads one document as an object, several as a list. */
export function exportTests(tests: readonly ListedTest[]): void {
  const documents = tests.map(documentOf);
  const text = `${JSON.stringify(documents.length === 1 ? documents[0] : documents, null, 2)}\n`;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = tests.length === 1 ? `${fileNameOf(tests[0]!.name)}.json` : "test-cases.json";
  link.click();
  URL.revokeObjectURL(link.href);
}

/** The document without the fields that the service adds. */
export function documentOf(test: TestCaseDocument): TestCaseDocument {
  const { name, status, passiveBehavior, scenario, threshold, turns, assertions } = test;
  const { inputs, repeats, draftedFrom } = test;
  return {
    name,
    status,
    passiveBehavior,
    scenario,
    threshold,
    turns,
    ...(inputs && { inputs }),
    ...(repeats !== undefined && { repeats }),
    ...(draftedFrom !== undefined && { draftedFrom }),
    assertions,
  };
}

/** `draftedFrom` of a test that has words of these traces, too. */
export function withSources(draftedFrom: unknown, traceIds: readonly string[]): string | string[] {
  const sources = [...new Set([draftedFrom ?? [], traceIds].flat())] as string[];
  return sources.length > 1 ? sources.slice(-sourcesMax) : sources[0]!;
}

export function problemOf({ id, name }: ListedTest, failure: Failure): Problem {
  return { testId: id, name, message: messageOf(failure) };
}

export function messageOf({ message, hint, requestId }: Failure): string {
  return [message, hint, requestId && `Request ${requestId}.`].filter(Boolean).join(" ");
}

function fileNameOf(name: string): string {
  const plain = name.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  return plain.replace(/^-+|-+$/g, "").slice(0, 60) || "test-case";
}

/** Drops an unpaired surrogate at the end. */
function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.slice(0, -1);
}
