// Tries a test case on past traces for a backtest, or estimates what the judge would cost. Stores nothing.

import { applicability, routingQuestion } from "../evaluate/applicability.ts";
import type { HeapSemaphore } from "../load/heap-semaphore.ts";
import { type LoadedTrace, openEach } from "../load.ts";
import type { CallUsage, JudgeOf } from "../model/judge/judge.ts";
import { type Unanswered, unanswered } from "../model/judge/outcome.ts";
import { type BacktestUsage, comparedResult, type TriedTrace } from "../model/run/backtest.ts";
import { areFullyEvaluated } from "../model/run/fully-evaluated.ts";
import { reasonText } from "../model/run/reason-text.ts";
import type { Result } from "../model/run/run.ts";
import type { TestCase, TestCaseDocument } from "../model/test-case/document.ts";
import type { Clock } from "../remote/clock.ts";
import { type Askable, evaluateOne } from "../run.ts";
import type { Database } from "../store/db.ts";
import { listLatestLive } from "../store/traces/read.ts";
import { optimistic, patient } from "./backtest-judge.ts";
import { CallEstimate, type EstimatedCalls } from "./call-estimate.ts";
import { withDeadline } from "./deadline.ts";
import { viewOf } from "./drafts.ts";
import { type UnavailableState, unavailability } from "./try-scenario.ts";

export type BacktestRequest = {
  agentId: string;
  document: TestCaseDocument;
  traceIds: string[];
  /** Whether the judge may be called. False: only its cached answers are used. */
  judged: boolean;
};

/** Traces that were not reached in time are missing from `items`. */
export type BacktestPart = { items: TriedTrace[]; usage: BacktestUsage };

export type BacktestEstimateRequest = {
  agentId: string;
  document: TestCaseDocument;
  /** How many of the latest live traces. */
  count: number;
};

export type BacktestEstimate = EstimatedCalls & {
  traces: number;
  /** Whether the test has semantic checks or a scenario to match. */
  needsJudge: boolean;
  /** How many of the traces were read for the estimate; the figures are extrapolated to all of them. */
  sampled: number;
  /** Why the judge cannot be called now; null if it can. */
  unavailable: { state: UnavailableState; reason: string } | null;
};

export type BacktestDeps = {
  db: Database;
  judgeOf: JudgeOf;
  sandbox: Askable["sandbox"];
  heap: HeapSemaphore;
  clock: Pick<Clock, "now" | "timeout" | "sleep">;
};

/** Traces in memory at a time, most of which wait for the judge. */
const concurrency = 4;
/** No further trace is opened after this time; open ones end within `partMs`. */
const openMs = 15_000;
const partMs = 60_000;
const sampleMax = 50;
const sampleBytesMax = 32 * 1024 * 1024;
const sampleMs = 3_000;

/** Placeholder for the id of a stored test: usage is not counted for the test. */
const draftId = "draft";

export async function backtest(
  deps: BacktestDeps,
  { agentId, document, traceIds, judged }: BacktestRequest,
  clientSignal: AbortSignal,
): Promise<BacktestPart> {
  const { judgeOf, sandbox, clock } = deps;
  const test = draftOf(agentId, document);
  const items: TriedTrace[] = [];
  const usage: BacktestUsage = { calls: 0, inputTokens: 0, outputTokens: 0, costUsd: 0, unpricedTokens: 0 };
  const onCall = (call: CallUsage) => addCall(usage, call);
  const deadline = clock.timeout(partMs);
  const signal = AbortSignal.any([clientSignal, deadline]);
  const failed = await eachTrace(deps, traceIds, signal, openMs, async (traceId, loaded) => {
    if (typeof loaded === "string") {
      items.push({ traceId, after: null, reason: loaded, check: null });
      return;
    }
    const context = { agentId, traceId, runId: null, tries: 0 };
    const judge = judged
      ? patient(judgeOf({ ...context, deadlineAt: clock.now() + partMs, onCall }), clock)
      : judgeOf({ ...context, deadlineAt: null, cachedOnly: true });
    const tried = await tryTrace(
      { judge: withDeadline(judge, deadline, partMs), sandbox },
      test,
      loaded,
      signal,
    );
    if (!clientSignal.aborted) items.push({ traceId, ...tried });
  });
  if (failed) throw failed.error;
  return { items, usage };
}

/** Reads up to 50 traces, evenly spaced, and counts the calls that they would need, cached answers excepted. */
export async function estimateBacktest(
  deps: BacktestDeps,
  { agentId, document, count }: BacktestEstimateRequest,
  clientSignal: AbortSignal,
): Promise<BacktestEstimate> {
  const { db, judgeOf, sandbox } = deps;
  const test = draftOf(agentId, document);
  const latest = await listLatestLive(db, agentId, count);
  const needsJudge =
    test.passiveBehavior === "run_when_relevant" || test.assertions.some(({ type }) => type === "semantic");
  const calls = new CallEstimate({ sameCriteria: true });
  const none = { ...calls.figures(), unavailable: null };
  const estimate: BacktestEstimate = { traces: latest.length, needsJudge, sampled: 0, ...none };
  if (!needsJudge || latest.length === 0) return estimate;
  let bytesLeft = sampleBytesMax;
  const sample = spread(latest, sampleMax).filter(({ bytes }) => {
    const fits = bytes <= bytesLeft;
    if (fits) bytesLeft -= bytes;
    return fits;
  });
  let denied: Unanswered | undefined;
  const ids = sample.map(({ id }) => id);
  const failed = await eachTrace(deps, ids, clientSignal, sampleMs, async (traceId, loaded) => {
    if (typeof loaded === "string" || denied) return;
    const context = { agentId, traceId, runId: null, deadlineAt: null, tries: 0, cachedOnly: true as const };
    const real = judgeOf({ ...context, onCall: calls.add });
    const judge = optimistic(real, answer => {
      denied ??= answer;
    });
    await tryTrace({ judge, sandbox }, test, loaded, clientSignal);
    estimate.sampled++;
  });
  if (failed) throw failed.error;
  if (denied) return { ...estimate, unavailable: unavailability(denied) };
  const scale = estimate.sampled === 0 ? 0 : latest.length / estimate.sampled;
  return { ...estimate, ...calls.figures(scale) };
}

/**
 * Opens the traces as there is room for them, a few at a time, and none after `ms`. `use` gets a reason in place of a
 * trace that cannot be opened. Returns the first error, once nothing is open.
 */
async function eachTrace(
  { db, heap, clock }: BacktestDeps,
  traceIds: string[],
  signal: AbortSignal,
  ms: number,
  use: (traceId: string, loaded: LoadedTrace | string) => Promise<void>,
): Promise<{ error: unknown } | undefined> {
  const openUntil = clock.now() + ms;
  const open = new Set<Promise<void>>();
  let failed: { error: unknown } | undefined;
  for await (const outcome of openEach(db, traceIds, heap, { signal })) {
    const { traceId } = outcome;
    if ("loaded" in outcome) {
      const task = use(traceId, outcome.loaded)
        .catch(error => {
          failed ??= { error };
        })
        .finally(() => {
          outcome.release();
          open.delete(task);
        });
      open.add(task);
    } else if ("error" in outcome) failed ??= { error: outcome.error };
    else await use(traceId, "refusal" in outcome ? outcome.refusal.message : "The trace was deleted.");
    if (open.size >= concurrency) await Promise.race(open);
    if (failed || signal.aborted || clock.now() > openUntil) break;
  }
  await Promise.all(open);
  return failed;
}

async function tryTrace(
  { judge, sandbox }: Askable,
  test: TestCase,
  loaded: LoadedTrace,
  signal: AbortSignal,
): Promise<Omit<TriedTrace, "traceId">> {
  const { derived } = loaded;
  if (loaded.read.content)
    return { after: null, reason: reasonText({ code: "content_not_stored" }), check: null };
  const evaluated = asEligible(test);
  const { view } = viewOf(loaded);
  const question = routingQuestion(view, [evaluated]);
  const routing = question && (/\S/.test(test.scenario) ? await judge.route(question, signal) : noScenario);
  const scenario = applicability(derived, [evaluated], routing).tests[0]!;
  const { applied, why, reason = "" } = scenario;
  const { accountId, agentId, revision, conventions, conventionRules } = loaded;
  const of = { revision, readBy: { conventions, conventionRules } };
  if (!applied) {
    if (why === "scenario_no_match") {
      const compared = comparedResult({ outcome: "skipped", checks: [] }, scenario, of);
      const told = reasonText({ code: "scenario_no_match", data: { comment: reason } });
      return { after: "skipped", reason: told, check: null, compared };
    }
    const text =
      why === "no_user_input" ? "The trace has no user input to match the scenario against." : reason;
    return { after: null, reason: text || "The judge could not match the scenario.", check: null };
  }
  const { result } = await evaluateOne({ judge, sandbox }, { accountId, agentId, view }, test, signal);
  const compared = result.fullyEvaluated && { compared: comparedResult(result, scenario, of) };
  return { ...summaryOf(result), ...compared };
}

/** A check that was not judged could still fail, so anything but a failure is no outcome. */
function summaryOf({ outcome, reason, checks }: Result): Omit<TriedTrace, "traceId"> {
  const unjudged = outcome === "failed" ? undefined : checks.find(check => !areFullyEvaluated([check]));
  const decisive =
    unjudged ?? (outcome === "passed" ? undefined : checks.find(check => check.outcome === outcome));
  return {
    after: unjudged ? null : outcome,
    reason: decisive?.reason ?? reason,
    check: decisive ? { id: decisive.id, type: decisive.type } : null,
  };
}

/** The test as if it were active with a single turn: a disabled test, or one for manual runs only, can be tried too. */
function asEligible(test: TestCase): TestCase {
  const passiveBehavior = test.passiveBehavior === "manual_only" ? "always_run" : test.passiveBehavior;
  return { ...test, status: "active", passiveBehavior, turns: [{ input: "?" }] };
}

function draftOf(agentId: string, document: TestCaseDocument): TestCase {
  return { ...document, id: draftId, agentId, version: 0 };
}

const noScenario = unanswered("unusable", { code: "no_scenario" });

function addCall(usage: BacktestUsage, { inputTokens, outputTokens, costUsd }: CallUsage): void {
  usage.calls++;
  usage.inputTokens += inputTokens;
  usage.outputTokens += outputTokens;
  if (costUsd === null) usage.unpricedTokens += inputTokens + outputTokens;
  else usage.costUsd += costUsd;
}

/** At most `max` of the items, evenly spaced. */
function spread<T>(items: T[], max: number): T[] {
  if (items.length <= max) return items;
  return Array.from({ length: max }, (_, at) => items[Math.floor((at * items.length) / max)]!);
}
