// Runs inside every thread of a pool: calls the handler of each request and sends back its result or error.
import { parentPort } from "node:worker_threads";
import { Refusal } from "../model/refusal.ts";
import type { ThreadReply, ThreadRequest } from "./pool.ts";
import { messageOf } from "./refusal-message.ts";

type Handlers = Record<string, (input: never, signal: AbortSignal) => unknown>;

export type ServeOptions = {
  /** Closes the resources of the thread. */
  stop?: () => Promise<void>;
  /** Turns an error that a client should see, such as a lost database connection, into a Refusal. */
  toRefusal?: (error: unknown) => unknown;
  /** Lists the large byte arrays of a result. Arrays that own their buffer are moved instead of copied. */
  bytesIn?: (result: never) => Uint8Array[];
};

export function serveThread(
  handlers: Handlers,
  { stop = async () => {}, toRefusal = error => error, bytesIn = () => [] }: ServeOptions = {},
): void {
  const open = new Map<number, AbortController>();
  parentPort!.on("message", (request: ThreadRequest) => {
    if (request.type === "call") void handle(request);
    else if (request.type === "cancel") open.get(request.id)?.abort();
    else void stop().then(() => parentPort!.close());
  });

  async function handle({ id, name, input }: Extract<ThreadRequest, { type: "call" }>): Promise<void> {
    const cancellation = new AbortController();
    open.set(id, cancellation);
    try {
      const result = await handlers[name]!(input as never, cancellation.signal);
      send({ type: "result", id, result }, bytesIn(result as never));
    } catch (error) {
      send(errorReply(id, toRefusal(error)));
    }
    open.delete(id);
  }
}

/** Sends an event to the pool's `onEvent`. */
export function sendEvent(event: unknown): void {
  send({ type: "event", event });
}

function send(reply: ThreadReply, bytes: Uint8Array[] = []): void {
  const owned = bytes.filter(({ byteLength, buffer }) => byteLength === buffer.byteLength);
  parentPort!.postMessage(reply, [...new Set(owned.map(({ buffer }) => buffer as ArrayBuffer))]);
}

function errorReply(id: number, error: unknown): ThreadReply {
  if (error instanceof Refusal) return { type: "refused", id, refusal: messageOf(error) };
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { type: "failed", id, error: text };
}
