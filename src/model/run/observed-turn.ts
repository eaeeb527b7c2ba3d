// Builds the trace of a turn whose agent sent none: one span with the request and the reply.
import type { AgentMessage, AgentReply, AgentTurn } from "../agent/call.ts";
import { type Batch, observedMark } from "../trace/trace.ts";

// With the whole history in each, the traces of a run would grow with the square of its turns.
const historyCharsMax = 100_000;

/**
 * Keeps as much of the latest history as fits. `spanId` has 16 hexadecimal digits. A failed call becomes a failed span,
 * with the HTTP status if there was one.
 */
export function observedTurn(
  { input, history }: Pick<AgentTurn, "input" | "history">,
  reply: AgentReply,
  { runId, turn, spanId }: { runId: string; turn: number; spanId: string },
): Batch {
  const startNano = BigInt(reply.startedAt.getTime()) * 1_000_000n;
  const endNano = startNano + BigInt(Math.max(0, Math.round(reply.ms * 1_000_000)));
  const messages = [...latest(history), { role: "user", content: input }].map(({ role, content }) => ({
    role,
    parts: [{ type: "text", content }],
  }));
  return {
    resource: null,
    metadata: { [observedMark]: true, "svc.run.id": runId, "svc.run.turn": turn },
    spans: [
      {
        span_id: spanId,
        parent_span_id: null,
        name: "Call of the agent",
        start_time_unix_nano: String(startNano),
        end_time_unix_nano: String(endNano),
        attributes: {
          "gen_ai.input.messages": messages,
          ...(reply.text !== null && { "gen_ai.response.text": reply.text }),
          ...(reply.status !== null && { "http.response.status_code": reply.status }),
          ...(reply.error && { "error.type": reply.error.code }),
        },
        status: reply.error ? { code: 2, message: reply.error.reason } : { code: 1 },
        events: [],
      },
    ],
  };
}

function latest(history: AgentMessage[]): AgentMessage[] {
  let left = historyCharsMax;
  const first = history.findLastIndex(({ content }) => {
    left -= content.length;
    return left < 0;
  });
  return history.slice(first + 1);
}
