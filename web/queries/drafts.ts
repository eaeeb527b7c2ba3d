// Query for assertions drafted from values of a trace.

import { queryOptions } from "@tanstack/react-query";
import { Failed } from "../api.ts";
import { type DraftPlace, draftAssertion } from "../mutations/tests.ts";

/** An assertion that fits the value and passes on the trace. */
export const draftAssertionQuery = (traceId: string, place: DraftPlace) =>
  queryOptions({
    queryKey: ["traces", traceId, "draft-assertion", place],
    queryFn: async ({ signal }) => {
      const answer = await draftAssertion(traceId, place, signal);
      if (answer.ok) return answer.value;
      throw new Failed(answer.failure);
    },
  });
