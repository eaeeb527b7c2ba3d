// Builds judge clients for a thread: per-thread rate limits, and the SSRF-safe fetch for user-supplied URLs.
import type { Logger } from "pino";
import type { JudgeConnection } from "../model/judge/call.ts";
import { openLine } from "../remote/judge/client.ts";
import { judgeFetch } from "../remote/judge/fetch.ts";
import type { Slots } from "../remote/judge/semaphore.ts";
import type { Outbound } from "../remote/outbound.ts";
import type { LineOpener } from "./connections.ts";

export type LineMeans = {
  outbound: Pick<Outbound, "fetch">;
  log: Pick<Logger, "info" | "warn">;
  /** Of a line by this name, which allows so many calls at a time. */
  slotsOf: (name: string, concurrency: number) => Slots;
  /** Threads that share what may be asked in a minute. */
  threads?: number;
};

export function lineOpener({ outbound, log, slotsOf, threads = 1 }: LineMeans): LineOpener {
  return (connection, { name, typed, mode, onMode }) => {
    const { concurrency, tokensPerMinute, timeoutMs } = connection;
    const shared: JudgeConnection = {
      ...connection,
      tokensPerMinute: tokensPerMinute && Math.ceil(tokensPerMinute / threads),
    };
    return openLine(shared, {
      log,
      mode,
      onMode,
      slots: slotsOf(name, concurrency),
      ...(typed ? { fetch: judgeFetch(outbound, timeoutMs) } : {}),
    });
  };
}
