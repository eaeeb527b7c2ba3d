// The inside of every thread that answers questions: which function answers which, and how what they throw is told.
import { parentPort } from "node:worker_threads";
import { Refusal } from "../model/refusal.ts";
import type { ThreadReply, ThreadRequest } from "./host.ts";

type Answerers = Record<string, (ask: never, signal: AbortSignal) => unknown>;

/**
 * `stop` closes what the thread holds open. `toRefusal` turns an error that a client should see, such as a lost database
 * connection, into a Refusal. The bytes of an answer must be its own: they are transferred.
 */
export function serveThread(
  answerers: Answerers,
  { stop, toRefusal }: { stop: () => Promise<void>; toRefusal: (error: unknown) => unknown },
): void {
  const underWay = new Map<number, AbortController>();
  parentPort!.on("message", (request: ThreadRequest) => {
    if (request.type === "ask") void answer(request);
    else if (request.type === "withdraw") underWay.get(request.id)?.abort();
    else void stop().then(() => parentPort!.close());
  });

  async function answer({ id, name, ask }: Extract<ThreadRequest, { type: "ask" }>): Promise<void> {
    const withdrawal = new AbortController();
    underWay.set(id, withdrawal);
    try {
      const answered = await answerers[name]!(ask as never, withdrawal.signal);
      tell({ type: "answer", id, answer: answered });
    } catch (error) {
      tell(asReply(id, toRefusal(error)));
    }
    underWay.delete(id);
  }
}

/** What is no answer to a question. */
export function tellNote(note: unknown): void {
  tell({ type: "note", note });
}

function tell(reply: ThreadReply): void {
  parentPort!.postMessage(reply, reply.type === "answer" ? bytesIn(reply.answer) : []);
}

/** The large buffers of an answer change hands instead of being copied. */
function bytesIn(answer: unknown): ArrayBuffer[] {
  const parts = typeof answer === "object" && answer !== null ? [answer, ...Object.values(answer)] : [];
  return parts.flatMap(part =>
    part instanceof Uint8Array && part.byteLength === part.buffer.byteLength
      ? [part.buffer as ArrayBuffer]
      : [],
  );
}

function asReply(id: number, error: unknown): ThreadReply {
  if (error instanceof Refusal) {
    const { code, message, hint, issues } = error;
    const detail = { message, ...(hint && { hint }), ...(issues && { issues }) };
    return { type: "refused", id, code, detail };
  }
  return {
    type: "failed",
    id,
    error: error instanceof Error ? (error.stack ?? error.message) : String(error),
  };
}
