// Closes connections that were handed to a process that ended before it took them. Node's cluster forgets them, so their
// clients would wait for an answer until their timeout; closed, they connect again at once.
import type { Worker } from "node:cluster";

type Closable = { close(): void };
/** Of Node's cluster, between its two sides. */
type Internal = { cmd?: string; act?: string; seq?: number; ack?: number };

/** Call when the process is forked. */
export function closeIfNotTaken(worker: Worker): void {
  const handed = new Map<number, Closable>();
  const child = worker.process;
  const send = child.send as (...given: unknown[]) => boolean;
  child.send = ((message: Internal, handle?: Closable, ...rest: unknown[]) => {
    if (message?.cmd === "NODE_CLUSTER" && message.act === "newconn" && handle) {
      handed.set(message.seq!, handle);
    }
    return send.call(child, message, handle, ...rest);
  }) as typeof child.send;
  child.on("internalMessage", ({ ack }: Internal) => void (ack !== undefined && handed.delete(ack)));
  child.once("exit", () => {
    for (const handle of handed.values()) handle.close();
    handed.clear();
  });
}
