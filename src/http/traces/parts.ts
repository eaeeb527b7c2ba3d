// Parts of one trace, for showing traces of any size: outline, single spans, conversation, and the whole as a file.
import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import { z } from "zod";
import { Refusal } from "../../model/refusal.ts";
import { listRunsOfTrace } from "../../store/runs/read.ts";
import { listForAgent } from "../../store/test-cases.ts";
import { findTrace } from "../../store/traces/read.ts";
import { Semaphore } from "../../threads/semaphore.ts";
import type { TraceReader } from "../../trace-reader.ts";
import type { App, Deps } from "../deps.ts";
import { defaultMinRate, enforceMinRate, type MinRate } from "../ingestion/min-rate.ts";
import { found } from "../page.ts";
import { Conversation } from "./conversation-schemas.ts";
import { RawTrace, SpanDetail, TraceOutline } from "./schemas.ts";
import { traceOutlineView } from "./view.ts";

// A download keeps the whole trace in memory until the client has received it; a whole span or a long outline may be as
// large. Separate semaphores, so that viewing does not wait for downloads.
const downloadsMax = 3;
const largeMax = 6;
const waitMs = 5_000;
/** Outlines of more spans (about 4 MB) need a permit. */
const spansMax = 20_000;

export function registerTraceParts(app: App, { db, reader }: Deps & { reader: TraceReader }): void {
  const tags = ["traces"];
  const params = z.object({ id: z.string() });
  const downloads = new Semaphore(downloadsMax);
  const large = new Semaphore(largeMax);

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
      const [part, runs, tests] = await Promise.all([
        reader.outline({ traceId: row.id }),
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
        querystring: z.object({ whole: z.stringbool().optional().describe("Truncate nothing.") }),
        response: { 200: SpanDetail },
      },
    },
    async ({ params: { id, spanId }, query: { whole = false } }, reply) => {
      if (whole) await holdPermit(large, reply);
      return sendJson(reply, found(await reader.span({ traceId: id, spanId, whole })));
    },
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

/** Holds a permit until the response is sent or the client disconnects. */
async function holdPermit(semaphore: Semaphore, reply: FastifyReply): Promise<void> {
  const release = await semaphore.acquire({ timeoutMs: waitMs });
  if (!release) throw new Refusal("UNAVAILABLE", { message: "Too many large traces. Try again." });
  reply.raw.once("close", release);
  if (reply.raw.destroyed) release();
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
