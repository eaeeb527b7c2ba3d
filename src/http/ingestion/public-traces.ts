// POST /public/traces: the public ingestion endpoint, in both formats and both encodings.
import { STATUS_CODES } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { RefusedGroup } from "../../ingest/prepare.ts";
import { type IngestDeps, type IngestOutcome, ingest, type StoredTrace } from "../../ingest.ts";
import { refusedWhole } from "../../model/ingestion.ts";
import { hashKey } from "../../model/key.ts";
import { Refusal } from "../../model/refusal.ts";
import type { FairSemaphore, Release } from "../../threads/fair-semaphore.ts";
import { encodeStatus, encodeSuccess, type PartialSuccess, partialMessage } from "../../wire/otlp-reply.ts";
import type { Deps } from "../deps.ts";
import { metrics } from "../health.ts";
import { holdersOf, placesOfKeys, takePlace } from "../places.ts";
import { asRefusal, refusalBody } from "../refuse.ts";
import { type LimitWrongKeys, limitWrongKeys } from "../wrong-keys.ts";
import { publicTracesSchema } from "./public-traces-schema.ts";
import { BodyReader, goneOf } from "./read-body.ts";
import { wrongPath, wrongPaths } from "./wrong-paths.ts";

/** Requests in hand: read, prepared or stored. A body of up to 1 MB needs no other permit. */
export const requestsMax = 256;
const placeWaitMs = 4_000;

const paths = ["/public/traces", "/public/traces/"];
const isEndpoint = (url: string) => paths.includes(url.split("?", 1)[0]!);

export type PublicTracesDeps = Pick<Deps, "db" | "limitAccounts"> & { ingest: IngestDeps };

/**
 * Registers the endpoint. It responds in `onRequest`, before Fastify reads the body or its type, so that the key is
 * checked first, from the headers alone. The hooks take a callback and do not call it: after a promise, Fastify would
 * continue with requests whose client disconnected before the response was sent.
 */
export function registerPublicTraces(app: FastifyInstance, deps: PublicTracesDeps): void {
  const receiving: Receiving = {
    reader: new BodyReader(),
    places: placesOfKeys(requestsMax),
    wrongKeys: limitWrongKeys(deps),
  };
  // Node would send "100 Continue" immediately. Here the reader sends it, after the key has been checked.
  app.server.on("checkContinue", (request, response) => {
    if (!isEndpoint(request.url!)) response.writeContinue();
    app.server.emit("request", request, response);
  });
  for (const url of paths) {
    app.post(url, {
      schema: url === paths[0] ? publicTracesSchema : { hide: true },
      onRequest: (request, reply, next) => void receive(deps, receiving, request, reply).catch(next),
      handler: () => {},
    });
  }
  for (const url of wrongPaths) {
    app.post(url, {
      schema: { hide: true },
      onRequest: (request, reply, next) => void refuseWrongPath(deps, request, reply).catch(next),
      handler: () => {},
    });
  }
}

async function refuseWrongPath(
  { ingest }: PublicTracesDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const refusal = wrongPath(request.url);
  await report(ingest, request, refusal);
  answerRefusal(request, reply, refusal);
}

/** Enters a request to a wrong path in the ingestion log of its key's project. */
async function report({ findKey, onAnswered }: IngestDeps, request: FastifyRequest, refusal: Refusal) {
  const text = request.headers["x-api-key"];
  if (typeof text !== "string" || text === "") return;
  // The answer is the same without the log, such as while the database is down.
  const key = await findKey(hashKey(text).toString("hex")).catch(() => undefined);
  if (key) onAnswered([refusedWhole(refusal, request.id)], key);
}

type Receiving = { reader: BodyReader; places: FairSemaphore; wrongKeys: LimitWrongKeys };

async function receive(
  deps: PublicTracesDeps,
  { reader, places, wrongKeys }: Receiving,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { headers, headersDistinct } = request.raw;
  const key = headers["x-api-key"];
  let release: Release | undefined;
  try {
    const outcome = await ingest(deps.ingest, {
      key: typeof key === "string" ? key : undefined,
      contentType: headers["content-type"],
      contentEncoding: headers["content-encoding"],
      id: request.id,
      requestIds: headersDistinct["x-request-id"] ?? [],
      async readBody(encoding, mediaType, key) {
        const holders = holdersOf(key);
        const signal = goneOf(request.raw);
        release = await takePlace(places, { holders, what: "requests", waitMs: placeWaitMs, signal });
        return reader.read(request.raw, reply.raw, encoding, mediaType, holders);
      },
    });
    count(outcome);
    answer(request, reply, outcome);
  } catch (error) {
    const isWrongKey = error instanceof Refusal && error.code === "UNAUTHORIZED" && key;
    answerRefusal(request, reply, isWrongKey ? await wrongKeys(request.client, error) : error);
  } finally {
    release?.();
  }
}

function count(outcome: IngestOutcome): void {
  const partial = outcome.path === "otlp" && outcome.refused.length > 0;
  metrics.ingestRequests.inc({ code: partial ? "PARTIAL" : "OK" });
  const stored = outcome.path === "canonical" ? [outcome.trace] : outcome.stored;
  metrics.ingestSpans.inc(stored.reduce((sum, { spanCount }) => sum + spanCount, 0));
}

function answer(request: FastifyRequest, reply: FastifyReply, outcome: IngestOutcome): void {
  if (outcome.path === "canonical") {
    const { trace } = outcome;
    reply
      .code(trace.state === "created" ? 201 : 200)
      .header("x-svc-trace-id", trace.traceId)
      .header("content-type", "application/json")
      .send(Buffer.from(JSON.stringify(canonicalReply(trace))));
    return;
  }
  const mediaType = isProtobuf(request) ? "protobuf" : "json";
  if (outcome.traces === 1) reply.header("x-svc-trace-id", outcome.stored[0]!.traceId);
  const partial = outcome.refused.length > 0 ? partialSuccess(outcome.refused) : undefined;
  const body = encodeSuccess(mediaType, partial);
  reply.code(200).header("content-type", contentTypes[mediaType]).send(body);
}

function canonicalReply({ traceId, externalId, agentId, state, evaluation }: StoredTrace) {
  return {
    traceId,
    externalId,
    agentId,
    status: state === "created" ? "created" : "replaced",
    evaluation,
    ...(evaluation === "none" ? { hint: hints[state === "created" ? "created" : "replaced"] } : {}),
  };
}

/** How to get a trace evaluated. */
const hints = {
  created:
    "No test case runs automatically on this trace. Activate a test case that has one turn and is not limited to manual runs; it evaluates the next trace.",
  replaced:
    "Replacing a trace schedules no evaluation. Send the trace with a new x-request-id to have it evaluated.",
};

function partialSuccess(refused: RefusedGroup[]): PartialSuccess {
  return {
    rejectedSpans: refused.reduce((sum, { spanCount }) => sum + spanCount, 0),
    errorMessage: partialMessage(refused),
  };
}

const contentTypes = { json: "application/json", protobuf: "application/x-protobuf" } as const;

/** Whether the client sends protobuf, and so reads every response as protobuf, errors included. */
function isProtobuf(request: FastifyRequest): boolean {
  return /^\s*application\/(x-)?protobuf\s*(;|$)/i.test(request.headers["content-type"] ?? "");
}

/** Sent as bytes: for text, Fastify adds a charset to the content type, which some clients compare exactly. */
function answerRefusal(request: FastifyRequest, reply: FastifyReply, error: unknown): void {
  const refusal = asRefusal(error);
  if (refusal.code === "INTERNAL") request.log.error({ err: error }, "ingestion failed");
  else if (refusal.code === "UNAVAILABLE") request.log.warn({ err: refusal.cause }, refusal.message);
  metrics.ingestRequests.inc({ code: refusal.code });
  if (refusal.retryAfterSeconds !== undefined) reply.header("retry-after", refusal.retryAfterSeconds);
  const mediaType = isProtobuf(request) ? "protobuf" : "json";
  const body =
    mediaType === "protobuf"
      ? encodeStatus(refusal)
      : Buffer.from(JSON.stringify(refusalBody(refusal, request.id)));
  reply.raw.statusMessage = reasonPhrase(refusal);
  reply
    .code(refusal.status)
    .header("content-type", contentTypes[mediaType])
    .header("content-length", body.length)
    .send(body);
}

const reasonHintMax = 120;

/** The standard phrase, code and hint: Python's exporter prints nothing else of an error. */
function reasonPhrase({ status, code, hint = "" }: Refusal): string {
  const ascii = shortened(hint).replace(/[^\x20-\x7e]/g, "?");
  return `${STATUS_CODES[status]}: ${[code, ascii].filter(Boolean).join(", ")}`;
}

/** The whole sentences that fit, or else the whole words. */
function shortened(hint: string): string {
  if (hint.length <= reasonHintMax) return hint;
  const start = hint.slice(0, reasonHintMax);
  const sentences = start.slice(0, start.lastIndexOf(". ") + 1);
  return sentences || start.slice(0, start.lastIndexOf(" "));
}
