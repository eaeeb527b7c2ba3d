// What whoever writes a test case asks about stored traces: try it on one, draft from one, complete words. Stores nothing.

import { assertionsAbout, type Place, valueAt } from "./editor/draft-assertion.ts";
import { proposeTest } from "./editor/draft-test.ts";
import { type ScenarioAsk, type ScenarioTrial, tryScenario } from "./editor/try-scenario.ts";
import { type Vocabulary, VocabularyBuilder } from "./editor/vocabulary.ts";
import { applicability, routingQuestion } from "./evaluate/applicability.ts";
import { evaluateTest } from "./evaluate/evaluate.ts";
import { TraceRoom } from "./load/trace-room.ts";
import { type LoadedTrace, withTrace } from "./load.ts";
import type { Judge, JudgeOf } from "./model/judge/judge.ts";
import { unanswered } from "./model/judge/outcome.ts";
import { Refusal } from "./model/refusal.ts";
import type { Applicability, Result } from "./model/run/run.ts";
import type { Assertion, AssertionDraft, AssertionInput } from "./model/test-case/assertion.ts";
import { parseDraft, type TestCase, type TestCaseDocument } from "./model/test-case/test-case.ts";
import { type Clock, systemClock } from "./remote/clock.ts";
import { type Askable, answersFor } from "./run.ts";
import { isUuid } from "./store/accounts/ownership.ts";
import type { Database } from "./store/db.ts";
import { findTrace, listLatestSizes } from "./store/traces/read.ts";

export type DryRunAsk = {
  agentId: string;
  traceId: string;
  document: TestCaseDocument;
  /** Whether the scenario is to be compared with the trace as well. */
  routing: boolean;
};

export type DryRun = {
  traceId: string;
  /** The trace's revision that was judged. */
  revision: number;
  result: Omit<Result, "testId">;
  /** Whether a run would judge the trace by this test, were it active; null unless asked for. */
  applicability: Pick<Applicability, "applied" | "why" | "reason" | "suspicious"> | null;
};

export type DraftAssertionAsk = { traceId: string; spanId: string } & Pick<Place, "attribute" | "path">;

/** Undefined where the trace does not exist, or is not the agent's. An aborted signal withdraws what is open. */
export type Editor = {
  dryRun(ask: DryRunAsk, signal: AbortSignal): Promise<DryRun | undefined>;
  draftTest(ask: { traceId: string }, signal: AbortSignal): Promise<TestCaseDocument | undefined>;
  /** Throws VALIDATION_ERROR where there is no such value, or no assertion fits it. */
  draftAssertion(ask: DraftAssertionAsk, signal: AbortSignal): Promise<AssertionDraft | undefined>;
  vocabulary(ask: { agentId: string }, signal: AbortSignal): Promise<Vocabulary>;
  tryScenario(ask: ScenarioAsk, signal: AbortSignal): Promise<ScenarioTrial>;
};

export type EditorDeps = {
  db: Database;
  judgeOf: JudgeOf;
  sandbox: Askable["sandbox"];
  /** The heap that this thread has for traces. */
  room?: TraceRoom;
  clock?: Pick<Clock, "now" | "timeout">;
};

type OpenDeps = EditorDeps & { room: TraceRoom };

const dryRunMs = 60_000;
const vocabularyKeptMs = 10_000;
const vocabulariesMax = 50;

export function openEditor({ clock = systemClock, ...given }: EditorDeps): Editor {
  const deps = { ...given, room: given.room ?? new TraceRoom() };
  const vocabularies = new Map<string, { made: Promise<Vocabulary>; until: number }>();
  return {
    dryRun: (ask, signal) => dryRun(deps, ask, signal, clock.timeout(dryRunMs)),
    draftTest: ({ traceId }, signal) =>
      whileOpen(deps, traceId, loaded => draftTest(askableFor(deps, loaded), loaded, signal)),
    draftAssertion: (ask, signal) =>
      whileOpen(deps, ask.traceId, loaded => draftAssertion(askableFor(deps, loaded), loaded, ask, signal)),
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
    tryScenario: (ask, signal) => tryScenario({ ...deps, clock }, ask, signal),
  };
}

/** Undefined where there is no such trace. Throws PAYLOAD_TOO_LARGE where it holds too much to be opened. */
async function whileOpen<T>(
  { db, room }: OpenDeps,
  id: string,
  use: (loaded: LoadedTrace) => Promise<T>,
): Promise<T | undefined> {
  return isUuid(id) ? withTrace(db, id, room, use) : undefined;
}

async function dryRun(
  deps: OpenDeps,
  ask: DryRunAsk,
  asker: AbortSignal,
  deadline: AbortSignal,
): Promise<DryRun | undefined> {
  const row = isUuid(ask.traceId) ? await findTrace(deps.db, ask.traceId) : undefined;
  if (row?.agentId !== ask.agentId) return undefined;
  return whileOpen(deps, row.id, loaded => dryRunOn(deps, loaded, ask, asker, deadline));
}

async function dryRunOn(
  deps: OpenDeps,
  loaded: LoadedTrace,
  { agentId, document, routing }: DryRunAsk,
  asker: AbortSignal,
  deadline: AbortSignal,
): Promise<DryRun> {
  const { trace, derived } = loaded;
  const test = { ...document, id: draftId, agentId, version: 0 };
  const { judge, sandbox } = askableFor(deps, loaded);
  const askable = { judge: punctual(judge, deadline), sandbox };
  const signal = AbortSignal.any([asker, deadline]);
  const [answers, applies] = await Promise.all([
    answersFor(askable, loaded, [test], signal),
    routing ? applicabilityOf(askable, loaded, test, signal) : null,
  ]);
  const { testId: _, ...result } = evaluateTest(trace, derived, test, answers);
  return { traceId: loaded.traceId, revision: loaded.revision, result, applicability: applies };
}

/** Nobody who tries something out waits for a later try. */
function askableFor({ judgeOf, sandbox }: EditorDeps, { agentId, traceId }: LoadedTrace): Askable {
  return { judge: judgeOf({ agentId, traceId, runId: null, deadlineAt: null, tries: 0 }), sandbox };
}

/** Stands where the id of a stored test would. */
const draftId = "draft";

/** A judge whose silence until the deadline is told as such. */
function punctual(judge: Judge, deadline: AbortSignal): Judge {
  const late = unanswered("later", { code: "judge_silent", data: { seconds: dryRunMs / 1000 } });
  return {
    async route(question, signal) {
      const answer = await judge.route(question, signal);
      return answer.code !== "ok" && deadline.aborted ? late : answer;
    },
    async ask(questions, signal) {
      const answers = await judge.ask(questions, signal);
      return answers.map(answer => (answer.code !== "ok" && deadline.aborted ? late : answer));
    },
  };
}

/** As of an active test; one without turns is not yet one of several. */
async function applicabilityOf(
  { judge }: Pick<Askable, "judge">,
  { derived }: LoadedTrace,
  test: TestCase,
  signal: AbortSignal,
): Promise<NonNullable<DryRun["applicability"]>> {
  const turns = test.turns.length === 0 ? [{ input: "?" }] : test.turns;
  const active: TestCase = { ...test, turns, status: "active" };
  const question = routingQuestion(derived, [active]);
  const answer =
    question && (/\S/.test(active.scenario) ? await judge.route(question, signal) : nothingToCompare);
  const { applied, why, reason, suspicious } = applicability(derived, [active], answer).tests[0]!;
  return {
    applied,
    why,
    ...(reason === undefined ? {} : { reason }),
    ...(suspicious === undefined ? {} : { suspicious }),
  };
}

const nothingToCompare = unanswered("unusable", { code: "no_scenario" });

/** Disabled, and with those of the proposed assertions alone that hold on the trace. */
async function draftTest(deps: Askable, loaded: LoadedTrace, signal: AbortSignal): Promise<TestCaseDocument> {
  const { assertions: proposed, ...fields } = proposeTest(loaded.trace, loaded.derived);
  const assertions: AssertionInput[] = [];
  for (const alternatives of proposed) {
    const held = await firstHolding(deps, loaded, alternatives, signal);
    if (held) assertions.push({ ...held, id: `a${assertions.length + 1}` });
  }
  return parseDraft({ ...fields, status: "disabled", assertions });
}

async function draftAssertion(
  deps: Askable,
  loaded: LoadedTrace,
  { spanId, attribute, path }: DraftAssertionAsk,
  signal: AbortSignal,
): Promise<AssertionDraft> {
  const refuse = (path: string, message: string) =>
    new Refusal("VALIDATION_ERROR", { message, issues: [{ path, message }] });
  const span = loaded.trace.spans.find(({ span_id }) => span_id === spanId);
  if (!span) throw refuse("spanId", "The trace has no span with this ID.");
  const place = { span, attribute, path };
  if (valueAt(place) === undefined) {
    throw refuse(path.length > 0 ? "path" : "attribute", "The span has no such value.");
  }
  const held = await firstHolding(deps, loaded, assertionsAbout(loaded.derived, place), signal);
  if (!held)
    throw refuse(
      "attribute",
      "No assertion fits this value: it is too long or contains unsupported characters.",
    );
  const { id: _, ...assertion } = held;
  return assertion as AssertionDraft;
}

/** The first that can be saved and, once it was, passes on this trace. */
async function firstHolding(
  deps: Askable,
  loaded: LoadedTrace,
  alternatives: AssertionInput[],
  signal: AbortSignal,
): Promise<Assertion | undefined> {
  for (const alternative of alternatives) {
    const document = savedDraft(alternative);
    if (!document) continue;
    const test = { ...document, id: draftId, agentId: loaded.agentId, version: 0 };
    const answers = await answersFor(deps, loaded, [test], signal);
    const { outcome } = evaluateTest(loaded.trace, loaded.derived, test, answers);
    if (outcome === "passed") return document.assertions[0]!;
  }
  return undefined;
}

/** A document of one assertion as it would come back from the database; undefined where it cannot be saved. */
function savedDraft(assertion: AssertionInput): TestCaseDocument | undefined {
  try {
    return parseDraft(JSON.parse(JSON.stringify({ name: draftId, assertions: [assertion] })));
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

const vocabularyTraces = 50;
const vocabularyBytes = 32 * 1024 * 1024;
const vocabularyMs = 1_000;

/** From the latest traces, as many as can be read within the bounds; one too large for what is left is passed over. */
async function readVocabulary(
  { db, room }: OpenDeps,
  agentId: string,
  clock: Pick<Clock, "now">,
): Promise<Vocabulary> {
  const builder = new VocabularyBuilder();
  const until = clock.now() + vocabularyMs;
  let bytesLeft = vocabularyBytes;
  for (const { id, bytes } of await listLatestSizes(db, agentId, vocabularyTraces)) {
    if (bytes > bytesLeft || clock.now() > until) {
      builder.leaveOut();
      continue;
    }
    bytesLeft -= bytes;
    try {
      await withTrace(db, id, room, ({ trace, derived }) => builder.add(trace, derived));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      builder.leaveOut();
    }
  }
  return builder.build();
}
