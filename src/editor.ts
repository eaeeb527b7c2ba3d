// Backend of the test editor: dry runs on stored traces, drafts made from a trace, completions. Stores nothing.

import {
  type BacktestEstimate,
  type BacktestEstimateRequest,
  type BacktestPart,
  type BacktestRequest,
  backtest,
  estimateBacktest,
} from "./editor/backtest.ts";
import { withDeadline } from "./editor/deadline.ts";
import type { ValueLocation } from "./editor/draft-assertion.ts";
import { draftAssertion, draftId, draftTest, viewOf } from "./editor/drafts.ts";
import { readTraceInputs, type TraceInput } from "./editor/recent-inputs.ts";
import { type LabelTrial, type LabelTrialRequest, tryLabels } from "./editor/try-labels.ts";
import { type RedactionTrial, type RedactionTrialRequest, tryRedaction } from "./editor/try-redaction.ts";
import { type ScenarioRequest, type ScenarioTrial, tryScenario } from "./editor/try-scenario.ts";
import { type Vocabulary, VocabularyBuilder } from "./editor/vocabulary.ts";
import { applicability, routingQuestion } from "./evaluate/applicability.ts";
import { HeapSemaphore } from "./load/heap-semaphore.ts";
import { type LoadedTrace, withTrace } from "./load.ts";
import type { JudgeConnection } from "./model/judge/call.ts";
import type { JudgeOf, KnownClass } from "./model/judge/judge.ts";
import { unanswered } from "./model/judge/outcome.ts";
import { Refusal } from "./model/refusal.ts";
import type { Applicability, Result } from "./model/run/run.ts";
import type { AssertionDraft } from "./model/test-case/assertion.ts";
import type { TestCase, TestCaseDocument } from "./model/test-case/document.ts";
import { type Clock, systemClock } from "./remote/clock.ts";
import { type Askable, evaluateOne } from "./run.ts";
import { isUuid } from "./store/accounts/ownership.ts";
import type { Database } from "./store/db.ts";
import { findTrace, listLatestSizes } from "./store/traces/read.ts";

export type DryRunRequest = {
  agentId: string;
  traceId: string;
  document: TestCaseDocument;
  /** Whether to match the scenario, too. */
  routing: boolean;
};

export type DryRun = {
  traceId: string;
  /** The revision of the trace that was evaluated. */
  revision: number;
  result: Omit<Result, "testId">;
  /** Whether the test would run on the trace if it were active; null unless requested. */
  applicability: Pick<Applicability, "applied" | "why" | "reason" | "suspicious"> | null;
};

export type DraftAssertionRequest = { traceId: string; spanId: string } & Pick<
  ValueLocation,
  "attribute" | "path"
>;

export type TraceInputsRequest = { agentId: string; traceIds: string[] };

export type KnownClassesRequest = { agentId: string; criteria: string[] };

/** Methods return undefined if the agent has no such trace. Aborting the signal cancels judge calls and sandbox work. */
export type Editor = {
  dryRun(request: DryRunRequest, signal: AbortSignal): Promise<DryRun | undefined>;
  draftTest(request: { traceId: string }, signal: AbortSignal): Promise<TestCaseDocument | undefined>;
  /** Throws VALIDATION_ERROR if the trace has no such value, or no assertion fits it. */
  draftAssertion(request: DraftAssertionRequest, signal: AbortSignal): Promise<AssertionDraft | undefined>;
  vocabulary(request: { agentId: string }, signal: AbortSignal): Promise<Vocabulary>;
  /** What the judge found earlier that criteria rest on; makes no call. */
  knownClasses(request: KnownClassesRequest, signal: AbortSignal): Promise<KnownClass[]>;
  tryScenario(request: ScenarioRequest, signal: AbortSignal): Promise<ScenarioTrial>;
  /** Whole user inputs, to be inputs of a test. */
  traceInputs(request: TraceInputsRequest, signal: AbortSignal): Promise<TraceInput[]>;
  /** Asks a judge, which need not be the project's, what labels say it should answer. */
  tryLabels(request: LabelTrialRequest, signal: AbortSignal): Promise<LabelTrial>;
  /** Redaction rules on the latest traces of a project; within some ten seconds. */
  tryRedaction(request: RedactionTrialRequest, signal: AbortSignal): Promise<RedactionTrial>;
  estimateBacktest(request: BacktestEstimateRequest, signal: AbortSignal): Promise<BacktestEstimate>;
  /** A part of a backtest; returns within a minute. */
  backtest(request: BacktestRequest, signal: AbortSignal): Promise<BacktestPart>;
};

export type EditorDeps = {
  db: Database;
  judgeOf: JudgeOf;
  /** Asks this connection in place of the project's. Absent: only the project's judge can be asked. */
  judgeWith?: (connection: JudgeConnection) => JudgeOf;
  sandbox: Askable["sandbox"];
  /** Limits the heap that traces use on this thread. */
  heap?: HeapSemaphore;
  clock?: Pick<Clock, "now" | "timeout" | "sleep">;
};

type OpenDeps = EditorDeps & { heap: HeapSemaphore };

const dryRunMs = 60_000;
const vocabularyKeptMs = 10_000;
const vocabulariesMax = 50;

export function openEditor({ clock = systemClock, ...given }: EditorDeps): Editor {
  const deps = { ...given, heap: given.heap ?? new HeapSemaphore() };
  const { db } = deps;
  const vocabularies = new Map<string, { made: Promise<Vocabulary>; until: number }>();
  return {
    dryRun: (request, signal) => dryRun(deps, request, signal, clock.timeout(dryRunMs)),
    draftTest: ({ traceId }, signal) =>
      withLoaded(deps, traceId, loaded => draftTest({ ...askableFor(deps, loaded), db }, loaded, signal)),
    draftAssertion: (request, signal) =>
      withLoaded(deps, request.traceId, loaded =>
        draftAssertion({ ...askableFor(deps, loaded), db }, loaded, request, signal),
      ),
    vocabulary({ agentId }) {
      const known = vocabularies.get(agentId);
      if (known && clock.now() < known.until) return known.made;
      const fresh = { made: readVocabulary(deps, agentId, clock), until: Infinity };
      vocabularies.delete(agentId);
      vocabularies.set(agentId, fresh);
      const oldest = vocabularies.keys().next();
      if (vocabularies.size > vocabulariesMax && oldest.value) vocabularies.delete(oldest.value);
      const keep = (ms: number) => {
        fresh.until = clock.now() + ms;
      };
      fresh.made.then(
        () => keep(vocabularyKeptMs),
        () => keep(0),
      );
      return fresh.made;
    },
    async knownClasses({ agentId, criteria }) {
      const judge = deps.judgeOf({ agentId, traceId: null, runId: null, deadlineAt: null, tries: 0 });
      return (await judge.knownClasses?.(criteria)) ?? [];
    },
    tryScenario: (request, signal) => tryScenario({ ...deps, clock }, request, signal),
    traceInputs: ({ agentId, traceIds }) => readTraceInputs(deps, agentId, traceIds, clock),
    tryLabels: (request, signal) => tryLabels({ ...deps, clock }, request, signal),
    tryRedaction: (request, signal) => tryRedaction({ ...deps, clock }, request, signal),
    estimateBacktest: (request, signal) => estimateBacktest({ ...deps, clock }, request, signal),
    backtest: (request, signal) => backtest({ ...deps, clock }, request, signal),
  };
}

/** Undefined if the trace does not exist. Throws PAYLOAD_TOO_LARGE if it is too large to open. */
async function withLoaded<T>(
  { db, heap }: OpenDeps,
  id: string,
  use: (loaded: LoadedTrace) => Promise<T>,
): Promise<T | undefined> {
  return isUuid(id) ? withTrace(db, id, heap, use) : undefined;
}

async function dryRun(
  deps: OpenDeps,
  request: DryRunRequest,
  clientSignal: AbortSignal,
  deadline: AbortSignal,
): Promise<DryRun | undefined> {
  const row = isUuid(request.traceId) ? await findTrace(deps.db, request.traceId) : undefined;
  if (row?.agentId !== request.agentId) return undefined;
  return withLoaded(deps, row.id, loaded => dryRunOn(deps, loaded, request, clientSignal, deadline));
}

async function dryRunOn(
  deps: OpenDeps,
  loaded: LoadedTrace,
  { agentId, document, routing }: DryRunRequest,
  clientSignal: AbortSignal,
  deadline: AbortSignal,
): Promise<DryRun> {
  const test = { ...document, id: draftId, agentId, version: 0 };
  const { judge, sandbox } = askableFor(deps, loaded);
  const askable = { judge: withDeadline(judge, deadline, dryRunMs), sandbox };
  const signal = AbortSignal.any([clientSignal, deadline]);
  const [{ result: evaluated }, applies] = await Promise.all([
    evaluateOne(askable, viewOf(loaded), test, signal),
    routing ? applicabilityOf(askable, loaded, test, signal) : null,
  ]);
  const { testId: _, ...result } = evaluated;
  return { traceId: loaded.traceId, revision: loaded.revision, result, applicability: applies };
}

/** No retries: the user waits for the result. */
function askableFor({ judgeOf, sandbox }: EditorDeps, { agentId, traceId }: LoadedTrace): Askable {
  return { judge: judgeOf({ agentId, traceId, runId: null, deadlineAt: null, tries: 0 }), sandbox };
}

/** Treats the draft as active, and a draft without turns as single-turn: its turns may not be written yet. */
async function applicabilityOf(
  { judge }: Pick<Askable, "judge">,
  loaded: LoadedTrace,
  test: TestCase,
  signal: AbortSignal,
): Promise<NonNullable<DryRun["applicability"]>> {
  const { view } = viewOf(loaded);
  const { derived, content } = view;
  const turns = test.turns.length === 0 ? [{ input: "?" }] : test.turns;
  const active: TestCase = { ...test, turns, status: "active" };
  const question = routingQuestion(view, [active]);
  const answer = question && (/\S/.test(active.scenario) ? await judge.route(question, signal) : noScenario);
  const [one] = applicability(derived, [active], answer, content).tests;
  const { applied, why, reason, suspicious } = one!;
  return {
    applied,
    why,
    ...(reason === undefined ? {} : { reason }),
    ...(suspicious === undefined ? {} : { suspicious }),
  };
}

const noScenario = unanswered("unusable", { code: "no_scenario" });

const vocabularyTraces = 50;
const vocabularyBytes = 32 * 1024 * 1024;
const vocabularyMs = 1_000;

/** Reads the latest traces within limits on bytes and time. Skips traces larger than the remaining bytes. */
async function readVocabulary(
  { db, heap }: OpenDeps,
  agentId: string,
  clock: Pick<Clock, "now">,
): Promise<Vocabulary> {
  const builder = new VocabularyBuilder();
  const until = clock.now() + vocabularyMs;
  let bytesLeft = vocabularyBytes;
  for (const { id, bytes } of await listLatestSizes(db, agentId, vocabularyTraces)) {
    if (bytes > bytesLeft || clock.now() > until) {
      builder.markIncomplete();
      continue;
    }
    bytesLeft -= bytes;
    try {
      await withTrace(db, id, heap, ({ read, derived }) => builder.add(read, derived));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      builder.markIncomplete();
    }
  }
  return builder.build();
}
