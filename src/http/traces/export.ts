// Exports traces as a file: whole, one JSON document a line, or as a table in CSV, with texts as in lists.

import { Readable } from "node:stream";
import { z } from "zod";
import { Refusal } from "../../model/refusal.ts";
import type { TestCase } from "../../model/test-case/document.ts";
import type { Database } from "../../store/db.ts";
import { listForAgent } from "../../store/test-cases.ts";
import { findTraces } from "../../store/trace-lists/list.ts";
import { findTraceSize, type TraceRow } from "../../store/traces/read.ts";
import type { TraceParts } from "../../trace-reader.ts";
import { byteOrderMark, type Cell, csvLine } from "../../wire/csv.ts";
import type { App, Deps } from "../frame/deps.ts";
import { holdersOfAccount, releaseOnClose, sharedPlacesOfAccounts, takePlace } from "../frame/places.ts";
import { routesOf } from "../frame/route.ts";
import { Id } from "../frame/schemas.ts";
import { takenWithin } from "../frame/taken-within.ts";
import { viewsOf } from "./list.ts";
import { wholeBytesMax, wholeJson } from "./parts.ts";
import type { ListedTrace } from "./schemas.ts";

/** How many traces are deleted or exported by one request. */
export const bulkMax = 1_000;
const exportsMax = 3;
const waitMs = 5_000;
const takenWithinMs = 30_000;

const ToExport = z.object({
  traceIds: z.array(Id).min(1).max(bulkMax),
  format: z
    .enum(["jsonl", "csv"])
    .describe(
      "jsonl: each line is a trace as in `GET /api/traces/{id}`. csv: a table, with shortened texts.",
    ),
});

export function registerTraceExport(app: App, { db, machine, reader }: Deps & { reader: TraceParts }): void {
  const route = routesOf(app, "traces");
  const places = sharedPlacesOfAccounts({ machine, name: "exports", count: exportsMax });

  route("POST /api/agents/:id/traces/export", {
    access: "session",
    summary: "Export traces as JSON lines or CSV, newest first",
    body: ToExport,
    answer: {
      description: "A file. The header `x-trace-count` has the number of traces found.",
      content: {
        "application/jsonl": { schema: z.unknown().meta({ type: "string" }) },
        "text/csv": { schema: z.unknown().meta({ type: "string" }) },
      },
    },
    handler: async ({ id: agentId, body, account, reply }) => {
      const { traceIds, format } = body;
      const holders = holdersOfAccount(account);
      releaseOnClose(reply, await takePlace(places, { holders, what: "exports", waitMs }));
      const rows = await findTraces(db, agentId, traceIds);
      const traces = await viewsOf(db, rows);
      reply.header("x-trace-count", traces.length);
      reply.header("content-disposition", `attachment; filename="traces.${format}"`);
      reply.type(format === "csv" ? "text/csv; charset=utf-8" : "application/jsonl; charset=utf-8");
      const lines =
        format === "csv" ? csvOf(traces) : linesOf({ db, reader }, rows, await listForAgent(db, agentId));
      return reply.send(Readable.from(takenWithin(takenWithinMs, lines, () => reply.raw.destroy())));
    },
  });
}

/** One trace is in memory at a time. Traces deleted since are left out. */
async function* linesOf(
  from: { db: Database; reader: TraceParts },
  rows: TraceRow[],
  tests: TestCase[],
): AsyncGenerator<Uint8Array> {
  for (const row of rows) {
    const size = await findTraceSize(from.db, row.id);
    if (!size) continue;
    const isTooLarge = size.bytes > wholeBytesMax;
    const json = isTooLarge ? tooLarge(row.id) : await wholeJson(from, row, tests).catch(leftOut(row.id));
    if (json) yield Buffer.concat([json, newLine]);
  }
}

const newLine = Buffer.from("\n");

/** The line of a trace that cannot be read at once: so that the file has a line for each. */
function tooLarge(id: string): Uint8Array {
  const error = `This trace is too large to export. Download it from /api/traces/${id}/raw.`;
  return Buffer.from(JSON.stringify({ id, error }));
}

function leftOut(id: string) {
  return (error: unknown): Uint8Array | undefined => {
    if (error instanceof Refusal && error.code === "NOT_FOUND") return undefined;
    if (error instanceof Refusal && error.code === "PAYLOAD_TOO_LARGE") return tooLarge(id);
    throw error;
  };
}

const columns: [name: string, cell: (trace: ListedTrace) => Cell][] = [
  ["id", ({ id }) => id],
  ["external_id", ({ externalId }) => externalId],
  ["received_at", ({ receivedAt }) => receivedAt],
  ["kind", ({ kind }) => kind],
  ["path", ({ path }) => path],
  ["name", ({ name }) => name],
  ["conversation_id", ({ conversationId }) => conversationId],
  ["user_id", ({ userId }) => userId],
  ["user_input", ({ userInput }) => userInput],
  ["response", ({ responseText }) => responseText],
  ["evaluation", ({ run }) => run?.state ?? null],
  ["verdict", ({ run }) => run?.verdict ?? null],
  ["tests_passed", ({ run }) => run?.counts?.passed ?? null],
  ["tests_failed", ({ run }) => run?.counts?.failed ?? null],
  ["tests_skipped", ({ run }) => run?.counts?.skipped ?? null],
  ["tests_missing_instrumentation", ({ run }) => run?.counts?.missing_instrumentation ?? null],
  ["failed_tests", ({ failedTests }) => failedTests.map(({ name }) => name).join("; ")],
  ["http_status", ({ httpStatus }) => httpStatus],
  ["duration_ms", ({ durationMs }) => durationMs],
  ["input_tokens", ({ tokens }) => tokens.input],
  ["output_tokens", ({ tokens }) => tokens.output],
  ["reasoning_tokens", ({ tokens }) => tokens.reasoning],
  ["failed_span", ({ failed }) => failed],
  ["spans", ({ spanCount }) => spanCount],
];

function* csvOf(traces: ListedTrace[]): Generator<Uint8Array> {
  yield Buffer.from(byteOrderMark + csvLine(columns.map(([name]) => name)));
  for (const trace of traces) yield Buffer.from(csvLine(columns.map(([, cell]) => cell(trace))));
}
