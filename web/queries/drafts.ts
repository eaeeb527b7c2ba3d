// Drafts made from what a trace holds.
import { queryOptions } from "@tanstack/react-query";
import type { Assertion } from "../../src/model/test-case/assertion.ts";
import { ask, Failed } from "../api.ts";
import type { ValuePath } from "../value-path.ts";

/** A value of a span; `attribute` null is the span itself. */
export type DraftPlace = { spanId: string; attribute: string | null; path: ValuePath };

/** The assertion that fits the value and holds on the trace. */
export const draftAssertionQuery = (traceId: string, place: DraftPlace) =>
  queryOptions({
    queryKey: ["traces", traceId, "draft-assertion", place],
    queryFn: async ({ signal }) => {
      const answer = await ask<Assertion>("POST", `/api/traces/${traceId}/draft-assertion`, {
        body: place,
        signal,
      });
      if (answer.ok) return answer.value;
      throw new Failed(answer.failure);
    },
  });
