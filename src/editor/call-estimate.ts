// Adds up judge calls that would be made: what they take, and the most that they may take with further votes.
import type { CallUsage } from "../model/judge/judge.ts";

/** `costUsd` is null if the price of a call is unknown. */
export type CallFigures = {
  calls: number;
  inputTokens: number;
  outputTokens: number;
  costUsd: number | null;
};

/** `atMost`: if every check needs its two further votes, and the judge is asked what every criterion rests on. */
export type EstimatedCalls = CallFigures & { atMost: CallFigures };

const none: CallFigures = { calls: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 };
const furtherVotes = 2;

export class CallEstimate {
  #first = none;
  #semantic = none;
  #classes = none;
  readonly #sameCriteria: boolean;

  /** `sameCriteria`: all questions are about the same criteria, whose classes are asked for once. */
  constructor({ sameCriteria }: { sameCriteria: boolean }) {
    this.#sameCriteria = sameCriteria;
  }

  readonly add = ({ kind, ...usage }: CallUsage): void => {
    const call = { calls: 1, ...usage };
    if (kind === "classify") {
      const isLarger = call.inputTokens > this.#classes.inputTokens;
      this.#classes = !this.#sameCriteria ? sum(this.#classes, call) : isLarger ? call : this.#classes;
      return;
    }
    this.#first = sum(this.#first, call);
    if (kind === "semantic") this.#semantic = sum(this.#semantic, call);
  };

  /** `scale`: how many times what was added. */
  figures(scale = 1): EstimatedCalls {
    const classes = this.#sameCriteria ? this.#classes : times(this.#classes, scale);
    const first = times(this.#first, scale);
    const votes = times(this.#semantic, scale * furtherVotes);
    return { ...rounded(first), atMost: rounded(sum(sum(first, votes), classes)) };
  }
}

function sum(one: CallFigures, other: CallFigures): CallFigures {
  return {
    calls: one.calls + other.calls,
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    costUsd: one.costUsd === null || other.costUsd === null ? null : one.costUsd + other.costUsd,
  };
}

function times({ calls, inputTokens, outputTokens, costUsd }: CallFigures, scale: number): CallFigures {
  return {
    calls: calls * scale,
    inputTokens: inputTokens * scale,
    outputTokens: outputTokens * scale,
    costUsd: costUsd === null ? null : costUsd * scale,
  };
}

function rounded({ calls, inputTokens, outputTokens, costUsd }: CallFigures): CallFigures {
  return {
    calls: Math.round(calls),
    inputTokens: Math.round(inputTokens),
    outputTokens: Math.round(outputTokens),
    costUsd,
  };
}
