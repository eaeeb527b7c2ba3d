// Waits for the trace that the agent sends of a turn, and reads the reply from it where the connection says so.
import { setTimeout as delay } from "node:timers/promises";
import type { RunTurn } from "../model/run/launch.ts";
import { hasRoot } from "../model/run/sent-trace.ts";
import type { LeasedRun } from "../store/runs/manual-runs.ts";
import { type ArrivedTrace, findArrived } from "../store/runs/turns.ts";
import { type OpenDeps, openTraces } from "./open-traces.ts";
import { type ReplyInTrace, replyIn } from "./reply-in-trace.ts";
import { retryTransient } from "./retry.ts";

export type AwaitDeps = OpenDeps & {
  /** An OTLP trace is complete once its root is there and no batch has arrived for this long, counted from the reply. */
  debounceMs: number;
};

/** `reply`: where the connection reads it from the trace, and the trace has one. */
export type AwaitedTrace = { traceId: string; reply?: ReplyInTrace };

type Look = AwaitedTrace & { revision: number; isComplete: boolean };

const pollMs = 200;

/** The trace once it is complete, or what there is of it when the time is up. */
export async function awaitTrace(
  deps: AwaitDeps,
  { run }: LeasedRun,
  turn: RunTurn,
  waitMs: number,
  signal: AbortSignal,
): Promise<AwaitedTrace | undefined> {
  const { db, debounceMs } = deps;
  const ids = [turn.requestId, turn.w3cTraceId];
  const repliedAt = performance.now();
  let look: Look | undefined;
  while (!signal.aborted) {
    const waitedMs = performance.now() - repliedAt;
    const isOver = waitedMs >= waitMs;
    const found = await retryTransient(signal, () => findArrived(db, run.agentId, ids));
    const isQuiet = found?.path === "canonical" || (found && Math.min(found.quietMs, waitedMs) >= debounceMs);
    if (found && (isQuiet || isOver)) {
      // Opened once for each of its revisions.
      const isKnown = look?.traceId === found.traceId && look.revision === found.revision;
      if (!isKnown) look = await lookAt(deps, found, turn, signal);
      if (look && (look.isComplete || isOver)) return look;
    } else if (isOver) return undefined;
    await delay(Math.max(0, Math.min(pollMs, waitMs - waitedMs)), undefined, { signal }).catch(() => {});
  }
  return undefined;
}

async function lookAt(
  deps: AwaitDeps,
  { traceId, revision, path }: ArrivedTrace,
  { replyFrom, w3cTraceId }: RunTurn,
  signal: AbortSignal,
): Promise<Look | undefined> {
  if (path === "canonical" && replyFrom !== "trace") return { traceId, revision, isComplete: true };
  // Alone and briefly, so that runs cannot deadlock on the heap.
  const opened = await openTraces(deps, [traceId], signal);
  try {
    const loaded = opened?.traces[0];
    if (!loaded) return undefined;
    const seen = { traceId, revision: loaded.revision };
    if (replyFrom !== "trace") return { ...seen, isComplete: hasRoot(loaded.trace.spans, w3cTraceId) };
    const found = replyIn(loaded, w3cTraceId);
    return { ...seen, isComplete: found?.isLast === true, ...(found && { reply: found.reply }) };
  } finally {
    opened?.release();
  }
}
