// semantic: whether the judge's score of the reply reaches the threshold.

import type { AssertionOf } from "../../model/assertion.ts";
import type { SemanticAnswer, SemanticQuestion } from "../../model/judge.ts";
import type { Check } from "../../model/run.ts";
import { isThreshold } from "../../model/test-case.ts";
import type { FoundText } from "../../model/trace.ts";
import { anyOf, type Try } from "../any-of.ts";
import { type CheckOf, type Context, evidenceMax, questionKey } from "../finding.ts";
import { findTexts } from "../targets.ts";
import { placeOfText } from "../trace-view.ts";

export const semantic: CheckOf<"semantic"> = (assertion, context) => {
  const { criteria, target_node } = assertion;
  const threshold = Object.hasOwn(assertion, "threshold") ? assertion.threshold : context.test.threshold;
  const expected = { criteria, threshold };
  if (!isThreshold(threshold)) {
    const reason = "The threshold is not a number from 0 to 1, so nothing can be judged by it.";
    return { kind: "skipped", skipped: "threshold", reason, expected, actual: null, evidence: [] };
  }
  const texts = findTexts(target_node, context.view, expected);
  if (!Array.isArray(texts)) return texts;
  const result = anyOf(texts, found => judge(assertion, found, threshold, context));
  if (result.kind === "open") return result;
  const evidence = texts.slice(-evidenceMax).map(placeOfText);
  if (result.kind === "skipped") return { ...result, expected, actual: null, evidence };
  const best =
    result.kind === "holds" ? result.value : result.values.reduce((a, b) => (b.score > a.score ? b : a));
  return {
    kind: "compared",
    holds: result.kind === "holds",
    fact: `The judge's score is ${best.score} of at least ${threshold}: ${best.reason.replace(/\.$/, "")}`,
    expected,
    actual: {
      score: best.score,
      model: best.model,
      reason: best.reason,
      ...(best.spent ? { spent: best.spent } : {}),
    },
    evidence: result.kind === "holds" ? [placeOfText(best.found)] : evidence,
    score: best.score,
  };
};

type Scored = Omit<SemanticAnswer & { state: "ok" }, "state"> & { found: FoundText };

function judge(
  assertion: AssertionOf<"semantic">,
  found: FoundText,
  threshold: number,
  { view, test, answers }: Context,
): Try<Scored> {
  const key = questionKey(test, assertion.id, found.spanId);
  const answer = answers.semantic.get(key);
  if (!answer) {
    const question: SemanticQuestion = {
      testId: test.id,
      assertionId: assertion.id,
      scenario: test.scenario,
      userInput: view.derived.userInput?.text ?? null,
      response: found.text,
      criteria: assertion.criteria,
      ...(assertion.reference === undefined ? {} : { reference: assertion.reference }),
    };
    return { kind: "open", asked: { semantic: [{ key, question }] } };
  }
  if (answer.state !== "ok")
    return { kind: "skipped", skipped: skipCodes[answer.state], reason: answer.reason };
  const { state: _, ...scored } = answer;
  return { kind: scored.score >= threshold ? "holds" : "fails", value: { found, ...scored } };
}

/** E4. */
const skipCodes: Record<Exclude<SemanticAnswer["state"], "ok">, NonNullable<Check["skipped"]>> = {
  not_configured: "no_judge",
  unavailable: "judge_unavailable",
  unusable: "judge_unusable",
  budget: "budget",
  undecided: "undecided",
};
