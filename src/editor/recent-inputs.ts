// Reads whole user inputs of traces: the distinct ones of an agent's latest traces, and those of given traces.

import type { HeapSemaphore } from "../load/heap-semaphore.ts";
import { withTrace } from "../load.ts";
import { Refusal } from "../model/refusal.ts";
import { stripInvisible } from "../model/strip-invisible.ts";
import { isWhole } from "../model/trace/storable.ts";
import type { Clock } from "../remote/clock.ts";
import type { Database } from "../store/db.ts";
import { type LatestInput, listInputsOfTraces, listLatestInputs } from "../store/traces/read.ts";

export type RecentInputs = {
  /** How many traces were looked at, how many of them have no input, and how many could not be read. */
  traces: number;
  withoutInput: number;
  unread: number;
  inputs: RecentInput[];
};

/** `traceId`: the latest of the `traces` traces with this input. */
export type RecentInput = { traceId: string; input: string; traces: number };

const bytesMax = 32 * 1024 * 1024;
const readMs = 2_000;

/** Of the latest `count` live traces, newest first. Skips traces too large for the limits on bytes and time. */
export async function readRecentInputs(
  { db, heap }: { db: Database; heap: HeapSemaphore },
  agentId: string,
  count: number,
  clock: Pick<Clock, "now">,
): Promise<RecentInputs> {
  const latest = await listLatestInputs(db, agentId, count);
  const distinct = new Map<string, RecentInput>();
  const found: RecentInputs = { traces: latest.length, withoutInput: 0, unread: 0, inputs: [] };
  for await (const [row, input] of inputsOf({ db, heap }, latest, clock)) {
    if (input === undefined) found.unread++;
    else if (input === null) found.withoutInput++;
    else {
      const same = distinct.get(normalize(input));
      if (same) same.traces++;
      else distinct.set(normalize(input), { traceId: row.id, input, traces: 1 });
    }
  }
  return { ...found, inputs: [...distinct.values()] };
}

/** `unread`: too large, or out of time; it may be read when asked for alone. */
export type TraceInput = { traceId: string; input: string | null; unread: boolean };

/** In the order of `traceIds`, without traces that the agent does not have. */
export async function readTraceInputs(
  { db, heap }: { db: Database; heap: HeapSemaphore },
  agentId: string,
  traceIds: string[],
  clock: Pick<Clock, "now">,
): Promise<TraceInput[]> {
  const found: TraceInput[] = [];
  for await (const [{ id }, input] of inputsOf(
    { db, heap },
    await listInputsOfTraces(db, agentId, traceIds),
    clock,
  )) {
    found.push({ traceId: id, input: input || null, unread: input === undefined });
  }
  return found;
}

/** With undefined for traces beyond the limits on bytes and time. */
async function* inputsOf(
  { db, heap }: { db: Database; heap: HeapSemaphore },
  rows: LatestInput[],
  clock: Pick<Clock, "now">,
): AsyncGenerator<[row: LatestInput, input: string | null | undefined]> {
  const until = clock.now() + readMs;
  let bytesLeft = bytesMax;
  for (const row of rows) {
    let input = inputOfRow(row);
    if (input === undefined && row.bytes <= bytesLeft && clock.now() <= until) {
      bytesLeft -= row.bytes;
      input = await readInput(db, row.id, heap);
    }
    yield [row, input];
  }
}

/** Undefined if the trace was deleted or is too large to open. */
async function readInput(db: Database, id: string, heap: HeapSemaphore): Promise<string | null | undefined> {
  try {
    return await withTrace(db, id, heap, ({ derived }) => derived.userInput?.text ?? null);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

/** Undefined if the row's input is truncated or not derived yet. */
function inputOfRow({ input, derived }: LatestInput): string | null | undefined {
  if (!derived) return undefined;
  return input === null || isWhole(input) ? input : undefined;
}

function normalize(input: string): string {
  return stripInvisible(input).normalize("NFC").replace(/\s+/g, " ").trim();
}
