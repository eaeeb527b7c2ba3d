// Finds what stands for redacted values in the prompts and answers of a run's judge calls.
import { Refusal } from "../../model/refusal.ts";
import type { Database } from "../../store/db.ts";
import type { KeptCall } from "../../store/judge/calls.ts";
import { findRun, type RunRow } from "../../store/runs/read.ts";
import { listTurns } from "../../store/runs/turns.ts";
import { findTraceSize } from "../../store/traces/read.ts";
import { type CallRedactions, rulesToldIn } from "../../trace-reader/call-redactions.ts";
import type { TraceReader } from "../../trace-reader.ts";

/** A larger trace has no marks here. */
const markedBytesMax = 16 * 1024 * 1024;

const none: CallRedactions = { materialRedactions: [], answerRedactions: [] };

/** By call. */
export async function redactionsOfRun(
  { db, reader }: { db: Database; reader: Pick<TraceReader, "redactionsOfCalls"> },
  runId: string,
  calls: KeptCall[],
): Promise<CallRedactions[]> {
  const run = calls.some(({ instructions }) => rulesToldIn(instructions) !== null)
    ? await findRun(db, runId)
    : null;
  const about = run ? await tracesOf(db, run) : null;
  const texts = calls.map(({ instructions, material, answer }) => ({ instructions, material, answer }));
  const found = about && (await reader.redactionsOfCalls({ ...about, calls: texts }).catch(unlessTooLarge));
  return found ?? calls.map(() => none);
}

/** Null if they are too large, or are not what the judge was asked about. */
async function tracesOf(db: Database, run: RunRow): Promise<{ traceIds: string[]; bytes: number } | null> {
  const turns = run.kind === "manual" ? ((await listTurns(db, [run.id])).get(run.id) ?? []) : null;
  const ids = turns ? turns.map(({ traceId }) => traceId) : [run.traceId];
  const sizes = [];
  for (const id of ids) sizes.push(id === null ? undefined : await findTraceSize(db, id));
  const bytes = sizes.reduce((sum, size) => sum + (size?.bytes ?? Infinity), 0);
  const isSame = turns !== null || sizes[0]?.revision === run.revision;
  return bytes > markedBytesMax || !isSame ? null : { traceIds: ids as string[], bytes };
}

function unlessTooLarge(error: unknown): undefined {
  if (error instanceof Refusal && error.code === "PAYLOAD_TOO_LARGE") return undefined;
  throw error;
}
