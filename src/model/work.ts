// Tells tests what was done on their own thread with what clients sent: nobody listens in the service.
import { channel } from "node:diagnostics_channel";

/** `bytes` and `elements`: how much was parsed. A compiled pattern has neither. */
export type Work = { what: "body" | "trace" | "pattern"; bytes: number; elements: number };

/** A channel of each thread: what other threads do is not published here. */
export const workChannel = channel("onlooker:work");

/** To be called where the work is done. */
export function tellOfWork(what: Work["what"], { bytes = 0, elements = 0 } = {}): void {
  if (workChannel.hasSubscribers) workChannel.publish({ what, bytes, elements } satisfies Work);
}
