// Tries a judge on labels: asks it what was asked when they were given, and compares its answers with the people's.

import type { JudgeConnection } from "../model/judge/call.ts";
import type { Judge, JudgeOf } from "../model/judge/judge.ts";
import { agrees, type JudgedAnswer, judgedCheck, type LabelAnswer } from "../model/judge/label.ts";
import type { Unanswered } from "../model/judge/outcome.ts";
import { reasonText } from "../model/run/reason-text.ts";
import type { Clock } from "../remote/clock.ts";
import type { Database } from "../store/db.ts";
import { type LabelWithQuestion, type ReadLabel, readQuestions } from "../store/judge/labels.ts";
import { newest } from "../store/listing.ts";
import { CallEstimate, type EstimatedCalls } from "./call-estimate.ts";

export type LabelTrialRequest = {
  projectId: string;
  testId?: string | undefined;
  /** Null: the project's judge. */
  connection: JudgeConnection | null;
  /** The id of the last label of the page before. */
  before?: string | undefined;
  count: number;
  /** Whether to return an estimate without calling the judge. */
  estimate: boolean;
};

export type TriedLabel = {
  id: string;
  agentId: string;
  testId: string;
  testName: string;
  userInput: string | null;
  traceId: string;
  runId: string;
  checkId: string | null;
  /** What the judge said when it was labeled, and what it should have said. */
  judged: JudgedAnswer;
  answer: LabelAnswer;
  /** Null if the judge decided nothing; `reason` says why. */
  now: JudgedAnswer | null;
  reason: string | null;
  /** Whether it decides otherwise than when it was labeled. */
  changed: boolean;
};

export type LabelTrial = {
  /** Empty for an estimate. */
  items: TriedLabel[];
  /** Of the calls that would be made; null unless an estimate was requested. */
  estimate: EstimatedCalls | null;
  /** How many labels can be asked again, of this page. */
  labels: number;
  /** The last label tried; null if no label is left. */
  last: string | null;
  /** Why the judge cannot be asked; null if it can. */
  unavailable: string | null;
};

type TrialDeps = {
  db: Database;
  judgeOf: JudgeOf;
  judgeWith?: (connection: JudgeConnection) => JudgeOf;
  clock: Pick<Clock, "timeout">;
};

const concurrency = 4;
/** No further label starts after this time; open calls are aborted after `trialMs`. */
const startCallsMs = 25_000;
const trialMs = 55_000;

/** Newest first. Returns early with fewer labels if the judge is slow. */
export async function tryLabels(
  { db, judgeOf, judgeWith, clock }: TrialDeps,
  { projectId, testId, connection, before = newest, count, estimate }: LabelTrialRequest,
  clientSignal: AbortSignal,
): Promise<LabelTrial> {
  const open = connection === null ? judgeOf : judgeWith?.(connection);
  if (!open) throw new Error("Only the project's judge can be asked here.");
  const noMoreCalls = clock.timeout(startCallsMs);
  const signal = AbortSignal.any([clientSignal, clock.timeout(trialMs)]);
  const labels: ReadLabel[] = [];
  for await (const label of readQuestions(db, { projectId, testId }, { before, rowsMax: count + 1 })) {
    labels.push(label);
  }
  const asked = labels.slice(0, count);
  const items: TriedLabel[] = [];
  const calls = new CallEstimate({ sameCriteria: false });
  let unavailable: string | null = null;
  let next = 0;
  const askOneAfterAnother = async () => {
    while (next < asked.length && unavailable === null && !noMoreCalls.aborted && !signal.aborted) {
      const at = next++;
      const label = asked[at]!;
      if (label.question === null) continue;
      const { agentId, traceId } = label;
      const context = { agentId, traceId, runId: null, deadlineAt: null, tries: 0 };
      const judge = open(estimate ? { ...context, cachedOnly: true, onCall: calls.add } : context);
      const answer = await judgedNow(judge, label, signal);
      if (typeof answer !== "string" && isUnavailable(answer)) unavailable ??= reasonText(answer.detail);
      else items[at] = triedLabel(label, answer);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, askOneAfterAnother));
  const isLeft = next < labels.length && unavailable === null;
  return {
    items: estimate ? [] : items.filter(item => item !== undefined),
    estimate: estimate ? calls.figures() : null,
    labels: asked.slice(0, next).filter(({ question }) => question !== null).length,
    last: isLeft ? (asked[next - 1]?.id ?? null) : null,
    unavailable,
  };
}

async function judgedNow(
  judge: Judge,
  { testId, question }: LabelWithQuestion,
  signal: AbortSignal,
): Promise<JudgedAnswer | Unanswered> {
  if (question.kind === "scenario") {
    const { scenario, userInput, earlier } = question;
    const input = { userInput, ...(earlier ? { earlier } : {}) };
    const answer = await judge.route({ ...input, scenarios: [{ testId, scenario }] }, signal);
    if (answer.code !== "ok") return answer;
    return answer.labels.get(testId)?.label ?? answer.unlabelled!.get(testId)!;
  }
  const answers = await judge.ask(question.questions, signal);
  const scores = answers.map(answer => (answer.code === "ok" ? answer.score : null));
  return judgedCheck(question, scores) ?? (answers.find(({ code }) => code !== "ok") as Unanswered);
}

/** Whether other labels would have no answer either. */
function isUnavailable({ code, detail }: Unanswered): boolean {
  return detail.code !== "judge_not_asked" && !["unusable", "undecided", "aborted"].includes(code);
}

function triedLabel(label: LabelWithQuestion, given: JudgedAnswer | Unanswered): TriedLabel {
  const { id, agentId, testId, testName, userInput, traceId, runId, checkId, judged, answer } = label;
  const now = typeof given === "string" ? given : null;
  return {
    ...{ id, agentId, testId, testName, userInput, traceId, runId, checkId },
    ...{ judged, answer, now },
    reason: typeof given === "string" ? null : reasonText(given.detail),
    changed: now !== null && agrees(now, answer) !== agrees(judged, answer),
  };
}
