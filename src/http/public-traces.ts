// POST /public/traces: the public ingestion endpoint, in both formats and both encodings.
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type IngestDeps, type IngestOutcome, ingest, type StoredTrace } from "../ingest.ts";
import { Refusal } from "../model/refusal.ts";
import type { EventPublisher } from "../store/events.ts";
import { encodePartial, encodeStatus, encodeSuccess } from "../wire/otlp-reply.ts";
import { errorBody } from "./error-body.ts";
import { metrics } from "./metrics.ts";
import { BodyReader } from "./read-body.ts";

// How long the rest of a refused request is read and thrown away, so that its sender gets to read the answer (A3).
const drainMs = 2_000;

export type PublicTracesDeps = { ingest: IngestDeps; events: EventPublisher };

/**
 * Registers the endpoint. It answers in `onRequest`, before Fastify would look at the body or its type: the key is
 * judged first, from the headers alone (A3).
 */
export function registerPublicTraces(app: FastifyInstance, deps: PublicTracesDeps): void {
  const reader = new BodyReader();
  for (const url of ["/public/traces", "/public/traces/"]) {
    app.post(url, {
      schema: { hide: true },
      onRequest: (request, reply) => receive(deps, reader, request, reply),
      handler: () => {},
    });
  }
  app.post("/public/traces/v1/traces", {
    schema: { hide: true },
    onRequest: (request, reply) => answerRefusal(request, reply, doubledPath()),
    handler: () => {},
  });
}

async function receive(
  deps: PublicTracesDeps,
  reader: BodyReader,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { headers, headersDistinct } = request.raw;
  const key = headers["x-api-key"];
  try {
    const outcome = await ingest(deps.ingest, {
      key: typeof key === "string" ? key : undefined,
      contentType: headers["content-type"],
      contentEncoding: headers["content-encoding"],
      requestIds: headersDistinct["x-request-id"] ?? [],
      readBody: (encoding, mediaType) => reader.read(request.raw, reply.raw, encoding, mediaType),
    });
    count(deps, outcome);
    return answer(request, reply, outcome);
  } catch (error) {
    return answerRefusal(request, reply, error);
  }
}

function count({ events }: PublicTracesDeps, outcome: IngestOutcome): void {
  metrics.ingestRequests.inc({ code: "OK" });
  for (const trace of outcome.path === "canonical" ? [outcome.trace] : outcome.stored) {
    metrics.ingestSpans.inc(trace.spanCount);
    events.publish({ type: "trace", agentId: trace.agentId, traceId: trace.traceId, change: trace.state });
  }
}

function answer(request: FastifyRequest, reply: FastifyReply, outcome: IngestOutcome): FastifyReply {
  if (outcome.path === "canonical") {
    const { trace } = outcome;
    return reply
      .code(trace.state === "created" ? 201 : 200)
      .header("x-svc-trace-id", trace.traceId)
      .header("content-type", "application/json")
      .send(JSON.stringify(canonicalReply(trace)));
  }
  const mediaType = isProtobuf(request) ? "protobuf" : "json";
  if (outcome.traces === 1) reply.header("x-svc-trace-id", outcome.stored[0]!.traceId);
  const body =
    outcome.refused.length > 0 ? encodePartial(mediaType, outcome.refused) : encodeSuccess(mediaType);
  return reply.code(200).header("content-type", contentTypes[mediaType]).send(body);
}

function canonicalReply({ traceId, externalId, agentId, state, evaluation }: StoredTrace) {
  return {
    traceId,
    externalId,
    agentId,
    status: state === "created" ? "created" : "replaced",
    evaluation,
  };
}

const contentTypes = { json: "application/json", protobuf: "application/x-protobuf" } as const;

/** Whether the sender speaks protobuf, and so reads its answer as protobuf, even that of a refusal (A2). */
function isProtobuf(request: FastifyRequest): boolean {
  return /^\s*application\/(x-)?protobuf\s*(;|$)/i.test(request.headers["content-type"] ?? "");
}

function answerRefusal(request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply {
  const refusal = error instanceof Refusal ? error : new Refusal("INTERNAL", { cause: error });
  if (refusal.code === "INTERNAL") request.log.error({ err: error }, "ingestion failed");
  else if (refusal.code === "UNAVAILABLE") request.log.warn({ err: refusal.cause }, refusal.message);
  metrics.ingestRequests.inc({ code: refusal.code });
  drain(request);
  reply.code(refusal.status);
  if (refusal.retryAfterSeconds !== undefined) reply.header("retry-after", refusal.retryAfterSeconds);
  return isProtobuf(request)
    ? reply.header("content-type", contentTypes.protobuf).send(encodeStatus(refusal))
    : reply.header("content-type", contentTypes.json).send(JSON.stringify(errorBody(refusal, request.id)));
}

/** Lets a sender that is still sending finish and read its answer; one that goes on for too long is cut off. */
function drain({ raw }: FastifyRequest): void {
  if (raw.complete || raw.destroyed) return;
  const timer = setTimeout(() => raw.socket.destroy(), drainMs).unref();
  raw.once("close", () => clearTimeout(timer));
  raw.resume();
}

function doubledPath(): Refusal {
  return new Refusal("NOT_FOUND", {
    message: "Traces are not received at this path.",
    hint: "The exporter appended /v1/traces. Set OTEL_EXPORTER_OTLP_TRACES_ENDPOINT to the address ending in /public/traces; it is used as it is.",
  });
}
