// One trace by its parts, for a page that shows it however large it is: its outline, a span, what was said, and all of it as a file.
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
import { keepPace, leastPace, type Pace } from "../ingestion/min-rate.ts";
import { found } from "../page.ts";
import { Conversation } from "./conversation-schemas.ts";
import { RawTrace, SpanDetail, TraceOutline } from "./schemas.ts";
import { traceOutlineView } from "./view.ts";

// A file holds the whole trace in memory until its client has taken it, and a whole span or a long outline up to as
// much; those who look do not wait for those who download.
const downloadsMax = 3;
const largeMax = 6;
const waitMs = 5_000;
/** An outline of more spans is a long one: 4 MB. */
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

/** Until the answer has gone out, or whoever asked is gone. */
async function holdPermit(semaphore: Semaphore, reply: FastifyReply): Promise<void> {
  const release = await semaphore.acquire({ timeoutMs: waitMs });
  if (!release) throw new Refusal("UNAVAILABLE", { message: "Too many large traces. Try again." });
  reply.raw.once("close", release);
  if (reply.raw.destroyed) release();
}

// Up to this much goes out at once, whoever reads it.
const atOnceBytesMax = 1024 * 1024;
const chunkBytes = 64 * 1024;

/** Bytes that are JSON already; their documented shape is held by tests. Who takes much too slowly is cut off. */
function sendJson(reply: FastifyReply, bytes: Uint8Array, pace: Pace = leastPace): never {
  reply.code(200).header("content-type", "application/json; charset=utf-8");
  if (bytes.length <= atOnceBytesMax) return reply.send(bytes) as never;
  const keeping = keepPace(pace, () => reply.raw.destroy());
  reply.raw.once("close", keeping.stop);
  if (reply.raw.destroyed) keeping.stop();
  reply.header("content-length", bytes.length);
  return reply.send(Readable.from(chunksOf(bytes, keeping.count))) as never;
}

function* chunksOf(bytes: Uint8Array, onTaken: (bytes: number) => void): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    yield bytes.subarray(at, at + chunkBytes);
    onTaken(chunkBytes);
  }
}
