// Tries a judge on labels page by page: first an estimate without calls, then, once confirmed, the judge.
import { useEffect, useRef, useState } from "react";
import type { LabelTrial } from "../../../src/http/judge/label-schemas.ts";
import type { Answer, Failure } from "../../api.ts";
import { tryLabels } from "../../mutations/labels.ts";
import type { LabelScope } from "../../queries/labels.ts";

type Estimate = NonNullable<LabelTrial["estimate"]>;

export type LabelTrialState =
  | { step: "idle" }
  | { step: "estimating" }
  | { step: "estimated"; connection: unknown; estimate: Estimate; labels: number }
  | { step: "asking"; tried: LabelTrial["items"] }
  | { step: "asked"; tried: LabelTrial["items"]; isDone: boolean }
  | { step: "failed"; failure: Failure; tried: LabelTrial["items"] }
  | { step: "unavailable"; reason: string; tried: LabelTrial["items"] };

type Figures = Estimate["atMost"];

export function useLabelTrial(scope: LabelScope) {
  const [state, setState] = useState<LabelTrialState>({ step: "idle" });
  const stopping = useRef(false);
  useEffect(() => {
    stopping.current = false;
    return () => {
      stopping.current = true;
    };
  }, []);

  const eachPage = async (
    connection: unknown,
    estimate: boolean,
    use: (page: LabelTrial) => void,
  ): Promise<"done" | "stopped" | Extract<LabelTrialState, { step: "failed" | "unavailable" }>> => {
    stopping.current = false;
    for (let cursor: string | undefined; ; ) {
      const answer: Answer<LabelTrial> = await tryLabels(scope, {
        ...{ connection, cursor, estimate },
        ...(estimate && { limit: estimatedPage }),
      });
      if (!answer.ok) return { step: "failed", failure: answer.failure, tried: [] };
      const { unavailable, nextCursor } = answer.value;
      use(answer.value);
      if (unavailable !== null) return { step: "unavailable", reason: unavailable, tried: [] };
      if (nextCursor === null) return "done";
      if (stopping.current) return "stopped";
      cursor = nextCursor;
    }
  };

  return {
    state,
    clear: () => setState({ step: "idle" }),
    stop: () => {
      stopping.current = true;
    },
    async estimate(connection: unknown) {
      setState({ step: "estimating" });
      let [first, most, labels]: [Figures, Figures, number] = [none, none, 0];
      const ended = await eachPage(connection, true, page => {
        if (page.estimate) [first, most] = [sum(first, page.estimate), sum(most, page.estimate.atMost)];
        labels += page.labels;
      });
      if (ended === "stopped") return setState({ step: "idle" });
      if (ended !== "done") return setState(ended);
      setState({ step: "estimated", connection, estimate: { ...first, atMost: most }, labels });
    },
    async ask(connection: unknown) {
      let tried: LabelTrial["items"] = [];
      setState({ step: "asking", tried });
      const ended = await eachPage(connection, false, ({ items }) => {
        tried = [...tried, ...items];
        setState({ step: "asking", tried });
      });
      if (typeof ended === "object") return setState({ ...ended, tried });
      setState({ step: "asked", tried, isDone: ended === "done" });
    },
  };
}

/** Nothing is asked for an estimate, so its pages are the largest. */
const estimatedPage = 50;
const none: Figures = { calls: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 };

function sum(one: Figures, other: Figures): Figures {
  return {
    calls: one.calls + other.calls,
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    costUsd: one.costUsd === null || other.costUsd === null ? null : one.costUsd + other.costUsd,
  };
}
