// Reads the whole user inputs of chosen traces, in batches.
import type { TraceInput } from "../../../../src/http/test-cases/editor-schemas.ts";
import type { Answer } from "../../../api.ts";
import { readTraceInputs } from "../../../mutations/tests.ts";

/** The API's limit per request. */
const readMax = 100;

/** Traces that were too large for a request with others are asked for once more, alone. */
export async function readInputs(
  agentId: string,
  traceIds: readonly string[],
): Promise<Answer<TraceInput[]>> {
  const found: TraceInput[] = [];
  const batches = Array.from({ length: Math.ceil(traceIds.length / readMax) }, (_, at) =>
    traceIds.slice(at * readMax, (at + 1) * readMax),
  );
  for (let batch = batches.shift(); batch; batch = batches.shift()) {
    const answer = await readTraceInputs(agentId, batch);
    if (!answer.ok) return answer;
    for (const item of answer.value.items) {
      if (item.unread && batch.length > 1) batches.push([item.traceId]);
      else found.push(item);
    }
  }
  return { ok: true, value: found };
}
