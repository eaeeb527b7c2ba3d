// The inside of every thread of a pool: which function answers which question, and how errors travel back.
import { parentPort } from "node:worker_threads";
import { Refusal } from "../model/refusal.ts";
import type { ThreadReply, ThreadRequest } from "./pool.ts";
import { messageOf } from "./refusal-message.ts";

type Answerers = Record<string, (ask: never, signal: AbortSignal) => unknown>;

export type ServeOptions = {
  /** Closes what the thread has open. */
  stop?: () => Promise<void>;
  /** Turns an error that a client should see, such as a lost database connection, into a Refusal. */
  toRefusal?: (error: unknown) => unknown;
  /** The large byte arrays of an answer. Those that own their buffer are moved instead of copied. */
  bytesIn?: (answer: never) => Uint8Array[];
};

export function serveThread(
  answerers: Answerers,
  { stop = async () => {}, toRefusal = error => error, bytesIn = () => [] }: ServeOptions = {},
): void {
  const open = new Map<number, AbortController>();
  parentPort!.on("message", (request: ThreadRequest) => {
    if (request.type === "ask") void answer(request);
    else if (request.type === "withdraw") open.get(request.id)?.abort();
    else void stop().then(() => parentPort!.close());
  });

  async function answer({ id, name, ask }: Extract<ThreadRequest, { type: "ask" }>): Promise<void> {
    const withdrawal = new AbortController();
    open.set(id, withdrawal);
    try {
      const answered = await answerers[name]!(ask as never, withdrawal.signal);
      post({ type: "answer", id, answer: answered }, bytesIn(answered as never));
    } catch (error) {
      post(replyOf(id, toRefusal(error)));
    }
    open.delete(id);
  }
}

/** Sends what is no answer to a question. */
export function postNote(note: unknown): void {
  post({ type: "note", note });
}

function post(reply: ThreadReply, bytes: Uint8Array[] = []): void {
  const owned = bytes.filter(({ byteLength, buffer }) => byteLength === buffer.byteLength);
  parentPort!.postMessage(reply, [...new Set(owned.map(({ buffer }) => buffer as ArrayBuffer))]);
}

function replyOf(id: number, error: unknown): ThreadReply {
  if (error instanceof Refusal) return { type: "refused", id, refusal: messageOf(error) };
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { type: "failed", id, error: text };
}
