// Reads one trace: its parts, for traces of any size (outline, single spans, conversation), and the whole, also as a file.

import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import { z } from "zod";
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
import type { App, Deps } from "../deps.ts";
import { defaultMinRate, enforceMinRate, type MinRate } from "../ingestion/min-rate.ts";
import { found } from "../page.ts";
import { holdersOfAccount, releaseOnClose, sharedPlacesOfAccounts, takePlace } from "../places.ts";
import { Flag } from "../schemas.ts";
import { requireAccount } from "../signed-in.ts";
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
  const tags = ["traces"];
  const params = z.object({ id: z.string() });
  const downloads = sharedPlacesOfAccounts({ machine, name: "downloads", count: downloadsMax });
  const large = sharedPlacesOfAccounts({ machine, name: "large reads", count: largeMax });

  app.get(
    "/api/traces/:id",
    {
      schema: {
        tags,
        summary: "Get a trace with its spans, derived values, notices and runs",
        params,
        response: { 200: TraceDetail },
      },
    },
    async ({ params: { id } }, reply) => {
      const row = found(await findTrace(db, id));
      const { bytes } = found(await findTraceSize(db, row.id));
      if (bytes > wholeBytesMax) throw tooLargeWhole();
      if (bytes > downloadBytesMin) await holdPermit(downloads, reply);
      return sendJson(reply, await wholeJson({ db, reader }, row, await listForAgent(db, row.agentId)));
    },
  );

  app.get(
    "/api/traces/:id/outline",
    {
      schema: {
        tags,
        summary: "Get the outline of a trace: its runs, and a summary of each span",
        params,
        response: { 200: TraceOutline },
      },
    },
    async ({ params: { id } }, reply) => {
      const row = found(await findTrace(db, id));
      if (row.spanCount > spansMax) await holdPermit(large, reply);
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
  );

  app.get(
    "/api/traces/:id/spans/:spanId",
    {
      schema: {
        tags,
        summary: "Get a span, with its longest texts and lists truncated",
        params: params.extend({ spanId: z.string() }),
        querystring: z.object({
          whole: Flag.optional().describe("Truncate nothing."),
          read: Flag.optional().describe("With the attributes that the conventions of the agent give."),
        }),
        response: { 200: SpanDetail },
      },
    },
    async ({ params: { id, spanId }, query: { whole = false, read = false } }, reply) => {
      if (whole) await holdPermit(large, reply);
      return sendJson(reply, found(await reader.span({ traceId: id, spanId, whole, read })));
    },
  );

  app.get(
    "/api/traces/:id/preview",
    {
      schema: {
        tags,
        summary: "Get what conventions would read in a trace",
        params,
        querystring: z.object({ conventions: ConventionList }),
        response: { 200: TracePreview },
      },
    },
    async ({ params: { id }, query }) => found(await reader.preview({ traceId: id, ...query })),
  );

  app.post(
    "/api/traces/:id/preview",
    {
      schema: {
        tags,
        summary: "Get what conventions and rules would read in a trace, before they are saved",
        params,
        body: z.object({
          conventions: Conventions.optional().describe("Absent: those of the agent."),
          conventionRules: ConventionRules.optional().describe("Absent: those of the agent."),
        }),
        response: { 200: TracePreview },
      },
    },
    async ({ params: { id }, body }) => found(await reader.preview({ traceId: id, ...body })),
  );

  app.get(
    "/api/traces/:id/conversation",
    {
      schema: {
        tags,
        summary: "Get the conversation of a trace: messages and tool calls in order",
        params,
        response: { 200: Conversation },
      },
    },
    async ({ params: { id } }, reply) => sendJson(reply, found(await reader.conversation({ traceId: id }))),
  );

  app.get(
    "/api/traces/:id/raw",
    {
      schema: {
        tags,
        summary: "Download a trace as stored",
        params,
        response: { 200: RawTrace },
      },
    },
    async ({ params: { id } }, reply) => {
      const row = found(await findTrace(db, id));
      await holdPermit(downloads, reply);
      const bytes = found(await reader.raw({ traceId: row.id, externalId: row.externalId, path: row.path }));
      reply.header("content-disposition", `attachment; filename="trace-${row.id}.json"`);
      return sendJson(reply, bytes);
    },
  );
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
async function holdPermit(places: Permits, reply: FastifyReply): Promise<void> {
  const holders = holdersOfAccount(requireAccount(reply.request));
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
