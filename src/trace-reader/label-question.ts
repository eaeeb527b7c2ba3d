// What the judge was asked for one check or scenario match of a run, so that it can be asked the same again.

import { earlierMessages } from "../evaluate/material.ts";
import { noAnswers, openQuestions } from "../evaluate/questions.ts";
import { withReceived } from "../evaluate/received.ts";
import { type LoadedTrace, readAgain } from "../load.ts";
import type { ReadBy } from "../model/agent/read-by.ts";
import type { LabelQuestion } from "../model/judge/label.ts";
import type { RunTurn } from "../model/run/launch.ts";
import type { Result } from "../model/run/run.ts";
import { isThreshold } from "../model/test-case/test-case.ts";

export type QuestionAsked = {
  /** Of the trace, at the run. */
  revision: number;
  readBy: ReadBy;
  /** Of a manual run. */
  turn: RunTurn | undefined;
  result: Pick<Result, "test" | "testId">;
  /** Null: the scenario match. */
  checkId: string | null;
};

/** Null if the trace has changed since the run, or does not give the question any more. */
export function questionIn(
  loaded: LoadedTrace,
  { revision, readBy, turn, result, checkId }: QuestionAsked,
): LabelQuestion | null {
  if (loaded.revision !== revision) return null;
  const ran = readAgain(loaded, readBy);
  const read = { trace: ran.read, derived: ran.derived };
  return questionOf(
    { agentId: loaded.agentId, ...(turn ? withReceived(read, turn) : read) },
    result,
    checkId,
  );
}

function questionOf(
  { agentId, trace, derived }: Pick<LoadedTrace, "agentId" | "trace" | "derived">,
  { test, testId }: Pick<Result, "test" | "testId">,
  checkId: string | null,
): LabelQuestion | null {
  if (checkId === null) {
    const userInput = derived.userInput?.text;
    if (userInput === undefined) return null;
    const earlier = earlierMessages(trace.spans, derived);
    return { kind: "scenario", scenario: test.scenario, userInput, ...(earlier ? { earlier } : {}) };
  }
  const assertion = test.assertions.find(({ id }) => id === checkId);
  if (assertion?.type !== "semantic") return null;
  const threshold = Object.hasOwn(assertion, "threshold") ? assertion.threshold : test.threshold;
  // What it depends on has passed, or the judge had not been asked.
  const alone = { ...assertion, depends_on: [] };
  const only = { ...test, id: testId, agentId, version: 0, assertions: [alone] };
  const questions = openQuestions(trace, derived, [only], noAnswers()).semantic.map(one => one.question);
  if (questions.length === 0 || !isThreshold(threshold)) return null;
  return { kind: "check", questions, threshold, negate: assertion.negate };
}
