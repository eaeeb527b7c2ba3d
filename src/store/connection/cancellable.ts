// Cancels what a session is doing: a server finishes the statement of a client that has left, with its locks.
import { setTimeout as sleep } from "node:timers/promises";
import { newClient } from "./connect.ts";

const retryMs = 100;

/**
 * Waits for the work of a session. Once aborted, cancels its statements until the work has ended: a cancellation between two
 * statements has no effect. `pid`: of the session, on the server that `url` leads to.
 */
export async function cancellable<T>(
  work: Promise<T>,
  { url, pid, signal }: { url: string; pid: number; signal: AbortSignal | undefined },
): Promise<T> {
  const ended = new AbortController();
  let cancelling: Promise<void> | undefined;
  const cancel = () => {
    cancelling = cancelStatements(url, pid, ended.signal);
  };
  if (signal?.aborted) cancel();
  signal?.addEventListener("abort", cancel);
  try {
    return await work;
  } finally {
    signal?.removeEventListener("abort", cancel);
    ended.abort();
    await cancelling;
  }
}

async function cancelStatements(url: string, pid: number, ended: AbortSignal): Promise<void> {
  while (!ended.aborted) {
    const client = newClient(url, { connectionTimeoutMillis: 5_000 });
    try {
      await client.connect();
      while (!ended.aborted) {
        await client.query("select pg_cancel_backend($1)", [pid]);
        await sleep(retryMs, undefined, { signal: ended });
      }
    } catch {
      // No connection, or the work has ended.
      await sleep(retryMs, undefined, { signal: ended }).catch(() => {});
    } finally {
      await client.end().catch(() => {});
    }
  }
}
