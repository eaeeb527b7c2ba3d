// Closes connections that were handed to a process which did not take them, when no other will. Node's cluster forgets them, so
// their clients would wait for an answer until their timeout; closed, they connect again at once.
import type { Worker } from "node:cluster";

type Closable = { close(): void };
/** Of Node's cluster, between its two sides. */
type Internal = { cmd?: string; act?: string; seq?: number; ack?: number; accepted?: boolean };

export class HandedConnections {
  readonly #listening = new Set<Worker>();

  /** Call when the process is forked. */
  watch(worker: Worker): void {
    const handed = new Map<number, Closable>();
    const child = worker.process;
    const send = child.send as (...given: unknown[]) => boolean;
    child.send = ((message: Internal, handle?: Closable, ...rest: unknown[]) => {
      if (message?.cmd === "NODE_CLUSTER" && message.act === "newconn" && handle) {
        handed.set(message.seq!, handle);
      }
      return send.call(child, message, handle, ...rest);
    }) as typeof child.send;
    child.on("internalMessage", ({ act, ack, accepted }: Internal) => {
      if (act === "queryServer") this.#listening.add(worker);
      else if (act === "close") this.#listening.delete(worker);
      if (ack === undefined) return;
      // Refused by a process that has stopped to listen. Node, which has read this before, offers it to another that listens.
      if (accepted === false && this.#listening.size === 0) handed.get(ack)?.close();
      handed.delete(ack);
    });
    child.once("exit", () => {
      this.#listening.delete(worker);
      for (const handle of handed.values()) handle.close();
      handed.clear();
    });
  }
}
