// Whether a test decides like one that was tried on past traces, so that the dry run or backtest is still its own.
import { isRecord } from "../../record.ts";
import { isSameJson } from "../../same-json.ts";

/**
 * `tried`: as it was written, and as the service completed it, which is what a save makes of it. Names, status, descriptions
 * and what manual runs send decide nothing.
 */
export function isOneTrial(document: unknown, tried: unknown[]): boolean {
  const decisive = decisiveOf(document);
  return tried.some(one => isSameJson(decisiveOf(one), decisive));
}

function decisiveOf(document: unknown): unknown {
  if (!isRecord(document)) return document;
  const { passiveBehavior, scenario, threshold, turns = [], assertions } = document;
  return {
    ...{ passiveBehavior, scenario, threshold },
    // One that is not written yet counts as one.
    turns: Array.isArray(turns) ? Math.max(1, turns.length) : turns,
    assertions: Array.isArray(assertions) ? assertions.map(withoutDescription) : assertions,
  };
}

function withoutDescription(assertion: unknown): unknown {
  return isRecord(assertion) ? { ...assertion, description: undefined } : assertion;
}
