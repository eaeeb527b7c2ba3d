// Drafts a test case, or one assertion, from a trace. What went right must pass on it; what failed must fail.

import { TraceView } from "../evaluate/trace-view.ts";
import type { LoadedTrace } from "../load.ts";
import { Refusal } from "../model/refusal.ts";
import type { Result } from "../model/run/run.ts";
import type { Assertion, AssertionDraft, AssertionInput } from "../model/test-case/assertion.ts";
import type { TestCaseDocument } from "../model/test-case/document.ts";
import { parseDraft, readinessIssues } from "../model/test-case/test-case.ts";
import { type Askable, evaluateOne, type ViewedTrace } from "../run.ts";
import type { Database } from "../store/db.ts";
import { decodeDetail } from "../store/runs/detail.ts";
import { listRunsOfTrace } from "../store/runs/read.ts";
import { candidatesFor, type ValueLocation, valueAt } from "./draft-assertion.ts";
import { brokenAssertions, failedAssertions, isSameSubject } from "./draft-failure.ts";
import { proposeTest } from "./draft-test.ts";

/** Placeholder for the id of a stored test. */
export const draftId = "draft";

type DraftDeps = Askable & { db: Database };

/** Active, unless something is missing that only the author can add. */
export async function draftTest(
  deps: DraftDeps,
  loaded: LoadedTrace,
  signal: AbortSignal,
): Promise<TestCaseDocument> {
  const { assertions: proposed, ...fields } = proposeTest(loaded.read, loaded.derived);
  const viewed = viewOf(loaded);
  const failing = await assertionsThatFail(deps, loaded, signal);
  const assertions: AssertionInput[] = [...failing];
  for (const alternatives of proposed) {
    if (failing.some(one => isSameSubject(one, alternatives[0]!))) continue;
    const passing = await firstPassing(deps, viewed, alternatives, signal);
    if (passing) assertions.push(passing);
  }
  const document = parseDraft({
    ...fields,
    // Without an input there is nothing to match a scenario against.
    ...(fields.scenario === "" && { passiveBehavior: "always_run" }),
    assertions: assertions.map((assertion, at) => ({ ...assertion, id: `a${at + 1}` })),
  });
  const status = readinessIssues(document).length === 0 ? "active" : "disabled";
  return { ...document, status, draftedFrom: loaded.traceId };
}

export async function draftAssertion(
  deps: DraftDeps,
  loaded: LoadedTrace,
  { spanId, attribute, path }: { spanId: string } & Pick<ValueLocation, "attribute" | "path">,
  signal: AbortSignal,
): Promise<AssertionDraft> {
  const refuse = (path: string, message: string) =>
    new Refusal("VALIDATION_ERROR", { message, issues: [{ path, message }] });
  const span = loaded.trace.spans.find(({ span_id }) => span_id === spanId);
  if (!span) throw refuse("spanId", "The trace has no span with this ID.");
  const location = { span, attribute, path };
  if (valueAt(location) === undefined) {
    throw refuse(path.length > 0 ? "path" : "attribute", "The span has no such value.");
  }
  const candidates = candidatesFor(loaded.derived, location);
  const failing = await assertionsThatFail(deps, loaded, signal);
  const fitting =
    failing.find(one => candidates.some(candidate => isSameSubject(one, candidate))) ??
    (await firstPassing(deps, viewOf(loaded), candidates, signal));
  if (!fitting)
    throw refuse(
      "attribute",
      "No assertion fits this value: it is too long or contains unsupported characters.",
    );
  const { id: _, ...assertion } = draftWith(fitting)!.assertions[0]!;
  return assertion as AssertionDraft;
}

/** What the latest evaluation found to fail, and what breaks the trace itself. */
async function assertionsThatFail(
  deps: DraftDeps,
  loaded: LoadedTrace,
  signal: AbortSignal,
): Promise<AssertionInput[]> {
  const viewed = viewOf(loaded);
  const found: AssertionInput[] = [];
  for (const one of [
    ...failedAssertions(await latestResults(deps.db, loaded.traceId)),
    ...brokenAssertions(loaded.derived),
  ]) {
    if (found.some(other => isSameSubject(one, other))) continue;
    // The judge is not asked again: its answer costs money and was given for this trace.
    if (one.type === "semantic" || (await outcomeOf(deps, viewed, one, signal)) === "failed") found.push(one);
  }
  return found;
}

async function latestResults(db: Database, traceId: string): Promise<Result[]> {
  const runs = await listRunsOfTrace(db, traceId);
  const latest = runs.find(({ state }) => state === "completed");
  return latest ? decodeDetail(latest.detail).results : [];
}

export function viewOf(loaded: LoadedTrace): ViewedTrace {
  const { accountId, agentId, read, derived } = loaded;
  return { accountId, agentId, view: new TraceView(read, derived) };
}

/** The first alternative that is valid and passes on this trace. */
async function firstPassing(
  deps: Askable,
  viewed: ViewedTrace,
  alternatives: AssertionInput[],
  signal: AbortSignal,
): Promise<Assertion | undefined> {
  for (const alternative of alternatives) {
    if ((await outcomeOf(deps, viewed, alternative, signal)) === "passed")
      return draftWith(alternative)!.assertions[0]!;
  }
  return undefined;
}

/** Undefined if the assertion is invalid. */
async function outcomeOf(
  deps: Askable,
  viewed: ViewedTrace,
  assertion: AssertionInput,
  signal: AbortSignal,
): Promise<Result["outcome"] | undefined> {
  const document = draftWith(assertion);
  if (!document) return undefined;
  const test = { ...document, id: draftId, agentId: viewed.agentId, version: 0 };
  return (await evaluateOne(deps, viewed, test, signal)).result.outcome;
}

/** A draft with one assertion, as the database would return it; undefined if the assertion is invalid. */
function draftWith(assertion: AssertionInput): TestCaseDocument | undefined {
  try {
    return parseDraft(JSON.parse(JSON.stringify({ name: draftId, assertions: [assertion] })));
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}
