// Tries a judge on labels: asks it what was asked when they were given, and compares its answers with the people's.
import type { JudgeConnection } from "../model/judge/call.ts";
import type { JudgeOf } from "../model/judge/judge.ts";
import { agrees, type JudgedAnswer, judgedCheck, type LabelAnswer } from "../model/judge/label.ts";
import type { Unanswered } from "../model/judge/outcome.ts";
import { reasonText } from "../model/run/reason.ts";
import type { Clock } from "../remote/clock.ts";
import type { Database } from "../store/db.ts";
import { type LabelWithQuestion, readQuestions } from "../store/judge/labels.ts";
import { newest } from "../store/listing.ts";

export type LabelTrialRequest = {
  projectId: string;
  testId?: string | undefined;
  /** Null: the project's judge. */
  connection: JudgeConnection | null;
  /** The id of the last label of the page before. */
  before?: string | undefined;
  count: number;
};

export type TriedLabel = {
  id: string;
  agentId: string;
  testId: string;
  testName: string;
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
  items: TriedLabel[];
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
  { projectId, testId, connection, before = newest, count }: LabelTrialRequest,
  clientSignal: AbortSignal,
): Promise<LabelTrial> {
  const open = connection === null ? judgeOf : judgeWith?.(connection);
  if (!open) throw new Error("Only the project's judge can be asked here.");
  const noMoreCalls = clock.timeout(startCallsMs);
  const signal = AbortSignal.any([clientSignal, clock.timeout(trialMs)]);
  const labels: LabelWithQuestion[] = [];
  for await (const label of readQuestions(db, { projectId, testId }, { before, rowsMax: count + 1 })) {
    labels.push(label);
  }
  const asked = labels.slice(0, count);
  const items: TriedLabel[] = [];
  let unavailable: string | null = null;
  let next = 0;
  const askOneAfterAnother = async () => {
    while (next < asked.length && unavailable === null && !noMoreCalls.aborted && !signal.aborted) {
      const at = next++;
      const label = asked[at]!;
      const answer = await judgedNow(open, label, signal);
      if (typeof answer !== "string" && isUnavailable(answer)) unavailable ??= reasonText(answer.detail);
      else items[at] = triedLabel(label, answer);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, askOneAfterAnother));
  const isLeft = next < labels.length && unavailable === null;
  return {
    items: items.filter(item => item !== undefined),
    last: isLeft ? (asked[next - 1]?.id ?? null) : null,
    unavailable,
  };
}

async function judgedNow(
  open: JudgeOf,
  { agentId, testId, traceId, question }: LabelWithQuestion,
  signal: AbortSignal,
): Promise<JudgedAnswer | Unanswered> {
  const judge = open({ agentId, traceId, runId: null, deadlineAt: null, tries: 0 });
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
function isUnavailable({ code }: Unanswered): boolean {
  return !["unusable", "undecided", "aborted"].includes(code);
}

function triedLabel(label: LabelWithQuestion, given: JudgedAnswer | Unanswered): TriedLabel {
  const { id, agentId, testId, testName, traceId, runId, checkId, judged, answer } = label;
  const now = typeof given === "string" ? given : null;
  return {
    ...{ id, agentId, testId, testName, traceId, runId, checkId, judged, answer, now },
    reason: typeof given === "string" ? null : reasonText(given.detail),
    changed: now !== null && agrees(now, answer) !== agrees(judged, answer),
  };
}
