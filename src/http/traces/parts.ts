// Reads one trace: its parts, for traces of any size (outline, single spans, conversation), and the whole, also as a file.

import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import { z } from "zod";
import type { Account } from "../../model/account.ts";
import { Refusal } from "../../model/refusal.ts";
import type { TestCase } from "../../model/test-case/document.ts";
import { type PricesOfDay, priceDayOf } from "../../reading/derived/usage.ts";
import type { Database } from "../../store/db.ts";
import { listPricesOfAgent } from "../../store/judge/prices.ts";
import { listRunsOfTrace } from "../../store/runs/read.ts";
import { listForAgent } from "../../store/test-cases.ts";
import { findTrace, findTraceSize, type TraceRow } from "../../store/traces/read.ts";
import type { Permits } from "../../threads/fair-semaphore.ts";
import type { TraceParts } from "../../trace-reader.ts";
import { ConventionList, ConventionRules, Conventions } from "../conventions.ts";
import type { App, Deps } from "../frame/deps.ts";
import { found } from "../frame/page.ts";
import { holdersOfAccount, releaseOnClose, sharedPlacesOfAccounts, takePlace } from "../frame/places.ts";
import { routesOf } from "../frame/route.ts";
import { Flag } from "../frame/schemas.ts";
import { defaultMinRate, enforceMinRate, type MinRate } from "../ingestion/min-rate.ts";
import { Conversation } from "./conversation-schemas.ts";
import { RawTrace, SpanDetail, TraceDetail, TraceOutline, TracePreview } from "./schemas.ts";
import { traceOutlineView, wholeTraceView } from "./view.ts";

// A download keeps the whole trace in memory until the client has received it; a whole span or a long outline may be as
// large. Separate places, so that viewing does not wait for downloads.
const downloadsMax = 3;
const largeMax = 6;
const waitMs = 5_000;
/** Whole traces of more JSON count as downloads, and larger ones than the second figure are only read in parts or as a file. */
const downloadBytesMin = 256 * 1024;
export const wholeBytesMax = 32 * 1024 * 1024;
/** Outlines of more spans (about 4 MB) need a permit. */
const spansMax = 20_000;

export function registerTraceParts(app: App, { db, machine, reader }: Deps & { reader: TraceParts }): void {
  const route = routesOf(app, "traces");
  const downloads = sharedPlacesOfAccounts({ machine, name: "downloads", count: downloadsMax });
  const large = sharedPlacesOfAccounts({ machine, name: "large reads", count: largeMax });

  route("GET /api/traces/:id", {
    access: "tokens",
    summary: "Get a trace with its spans, derived values, notices and runs",
    answer: TraceDetail,
    handler: async ({ id, account, reply }) => {
      const row = found(await findTrace(db, id));
      const { bytes } = found(await findTraceSize(db, row.id));
      if (bytes > wholeBytesMax) throw tooLargeWhole();
      if (bytes > downloadBytesMin) await holdPermit(downloads, account, reply);
      return sendJson(reply, await wholeJson({ db, reader }, row, await listForAgent(db, row.agentId)));
    },
  });

  route("GET /api/traces/:id/outline", {
    access: "tokens",
    summary: "Get the outline of a trace: its runs, and a summary of each span",
    answer: TraceOutline,
    handler: async ({ id, account, reply }) => {
      const row = found(await findTrace(db, id));
      if (row.spanCount > spansMax) await holdPermit(large, account, reply);
      const prices = await pricesOf(db, row);
      const [part, runs, tests] = await Promise.all([
        reader.outline({ traceId: row.id, prices }),
        listRunsOfTrace(db, row.id),
        listForAgent(db, row.agentId),
      ]);
      const { head, spans } = found(part);
      const rest = JSON.stringify(traceOutlineView(row, head, runs, tests));
      return sendJson(reply, Buffer.concat([Buffer.from(`${rest.slice(0, -1)},"spans":`), spans, close]));
    },
  });

  route("GET /api/traces/:id/spans/:spanId", {
    access: "tokens",
    summary: "Get a span, with its longest texts and lists truncated",
    query: z.object({
      whole: Flag.optional().describe("Truncate nothing."),
      read: Flag.optional().describe("With the attributes that the conventions of the agent give."),
    }),
    answer: SpanDetail,
    handler: async ({ id, spanId, query: { whole = false, read = false }, account, reply }) => {
      if (whole) await holdPermit(large, account, reply);
      return sendJson(reply, found(await reader.span({ traceId: id, spanId, whole, read })));
    },
  });

  route("GET /api/traces/:id/preview", {
    access: "tokens",
    summary: "Get what conventions would read in a trace",
    query: z.object({ conventions: ConventionList }),
    answer: TracePreview,
    handler: async ({ id, query }) => found(await reader.preview({ traceId: id, ...query })),
  });

  route("POST /api/traces/:id/preview", {
    access: "session",
    summary: "Get what conventions and rules would read in a trace, before they are saved",
    body: z.object({
      conventions: Conventions.optional().describe("Absent: those of the agent."),
      conventionRules: ConventionRules.optional().describe("Absent: those of the agent."),
    }),
    answer: TracePreview,
    handler: async ({ id, body }) => found(await reader.preview({ traceId: id, ...body })),
  });

  route("GET /api/traces/:id/conversation", {
    access: "tokens",
    summary: "Get the conversation of a trace: messages and tool calls in order",
    answer: Conversation,
    handler: async ({ id, reply }) => sendJson(reply, found(await reader.conversation({ traceId: id }))),
  });

  route("GET /api/traces/:id/raw", {
    access: "tokens",
    summary: "Download a trace as stored",
    answer: RawTrace,
    handler: async ({ id, account, reply }) => {
      const row = found(await findTrace(db, id));
      await holdPermit(downloads, account, reply);
      const bytes = found(await reader.raw({ traceId: row.id, externalId: row.externalId, path: row.path }));
      reply.header("content-disposition", `attachment; filename="trace-${row.id}.json"`);
      return sendJson(reply, bytes);
    },
  });
}

const close = Buffer.from("}");

/** The whole trace as JSON. Throws NOT_FOUND if it was deleted, and PAYLOAD_TOO_LARGE if it does not fit in memory. */
export async function wholeJson(
  { db, reader }: { db: Database; reader: TraceParts },
  row: TraceRow,
  tests: TestCase[],
): Promise<Uint8Array> {
  const prices = await pricesOf(db, row);
  const [part, runs] = await Promise.all([
    reader.whole({ traceId: row.id, prices }).catch(refuseWhole),
    listRunsOfTrace(db, row.id),
  ]);
  const whole = found(part);
  const rest = JSON.stringify(wholeTraceView(row, whole, runs, tests));
  return Buffer.concat([Buffer.from(`${rest.slice(0, -1)},`), whole.json.subarray(1)]);
}

async function pricesOf(db: Database, { agentId, receivedAt }: TraceRow): Promise<PricesOfDay> {
  return { own: await listPricesOfAgent(db, agentId), day: priceDayOf(receivedAt) };
}

/** Holds a permit until the response is sent or the client disconnects. */
async function holdPermit(places: Permits, account: Account, reply: FastifyReply): Promise<void> {
  const holders = holdersOfAccount(account);
  releaseOnClose(reply, await takePlace(places, { holders, what: "reads of large traces", waitMs }));
}

function refuseWhole(error: unknown): never {
  throw error instanceof Refusal && error.code === "PAYLOAD_TOO_LARGE" ? tooLargeWhole() : error;
}

function tooLargeWhole(): Refusal {
  return new Refusal("PAYLOAD_TOO_LARGE", {
    message: "This trace is too large to read at once.",
    hint: "Read its parts at /outline and /spans/:spanId, or download it from /raw.",
  });
}

// Larger responses are sent in chunks, with a minimum rate.
const unchunkedBytesMax = 1024 * 1024;
const chunkBytes = 64 * 1024;

/** Sends bytes that are JSON already; tests check their documented shape. Disconnects clients that read too slowly. */
function sendJson(reply: FastifyReply, bytes: Uint8Array, minRate: MinRate = defaultMinRate): never {
  reply.code(200).header("content-type", "application/json; charset=utf-8");
  if (bytes.length <= unchunkedBytesMax) return reply.send(bytes) as never;
  const monitor = enforceMinRate(minRate, () => reply.raw.destroy());
  reply.raw.once("close", monitor.stop);
  if (reply.raw.destroyed) monitor.stop();
  reply.header("content-length", bytes.length);
  return reply.send(Readable.from(chunksOf(bytes, monitor.count))) as never;
}

function* chunksOf(bytes: Uint8Array, onTaken: (bytes: number) => void): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    yield bytes.subarray(at, at + chunkBytes);
    onTaken(chunkBytes);
  }
}
