// Receives requests of the public ingestion endpoints and answers them in the sender's encoding.
import { STATUS_CODES } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { IngestRequest } from "../../ingest/admit.ts";
import { Refusal } from "../../model/refusal.ts";
import type { Permits, Release } from "../../threads/fair-semaphore.ts";
import { encodeStatus, encodeSuccess, type PartialSuccess } from "../../wire/otlp-reply.ts";
import type { Deps } from "../deps.ts";
import { metrics } from "../health.ts";
import { holdersOf, placesOfKeys, takePlace } from "../places.ts";
import { asRefusal, refusalBody } from "../refuse.ts";
import { type LimitWrongKeys, limitWrongKeys } from "../wrong-keys.ts";
import { type LimitKeys, limitKeys } from "./key-limits.ts";
import { BodyReader, goneOf } from "./read-body.ts";

/** Requests in hand on one machine: read, prepared or stored. A body of up to 1 MB needs no other permit. */
export const requestsMax = 256;
const placeWaitMs = 4_000;

/** What all endpoints of a process share. */
export type Receiving = {
  reader: BodyReader;
  places: Permits;
  wrongKeys: LimitWrongKeys;
  keyLimits: LimitKeys;
};

export function openReceiving(deps: Pick<Deps, "db" | "limitAccounts" | "machine">): Receiving {
  const { machine } = deps;
  return {
    reader: new BodyReader({ machine }),
    // Divided, not shared: every request needs one, and asking another process would cost as much as a look-up.
    places: placesOfKeys(Math.ceil(requestsMax / (machine?.processes ?? 1))),
    wrongKeys: limitWrongKeys(deps),
    keyLimits: limitKeys(deps.db),
  };
}

/** Calls `ingest`, which answers, or answers with the Refusal that it throws. */
export async function receive(
  { reader, places, wrongKeys, keyLimits }: Receiving,
  request: FastifyRequest,
  reply: FastifyReply,
  ingest: (given: IngestRequest) => Promise<void>,
): Promise<void> {
  const { headers, headersDistinct } = request.raw;
  const key = headers["x-api-key"];
  let release: Release | undefined;
  try {
    await ingest({
      key: typeof key === "string" ? key : undefined,
      contentType: headers["content-type"],
      contentEncoding: headers["content-encoding"],
      id: request.id,
      requestIds: headersDistinct["x-request-id"] ?? [],
      async readBody(encoding, mediaType, key) {
        await keyLimits(key, reply);
        const holders = holdersOf(key);
        const signal = goneOf(request.raw);
        release = await takePlace(places, { holders, what: "requests", waitMs: placeWaitMs, signal });
        return reader.read(request.raw, reply.raw, encoding, mediaType, holders);
      },
    });
  } catch (error) {
    const isWrongKey = error instanceof Refusal && error.code === "UNAUTHORIZED" && key;
    answerRefusal(request, reply, isWrongKey ? await wrongKeys(request.client, error) : error);
  } finally {
    release?.();
  }
}

/** Answers an OTLP export of which at least a part was accepted. */
export function answerExport(
  request: FastifyRequest,
  reply: FastifyReply,
  partial: PartialSuccess | undefined,
): void {
  const mediaType = isProtobuf(request) ? "protobuf" : "json";
  const body = encodeSuccess(mediaType, partial);
  reply.code(200).header("content-type", contentTypes[mediaType]).send(body);
}

const contentTypes = { json: "application/json", protobuf: "application/x-protobuf" } as const;

/** Whether the client sends protobuf, and so reads every response as protobuf, errors included. */
function isProtobuf(request: FastifyRequest): boolean {
  return /^\s*application\/(x-)?protobuf\s*(;|$)/i.test(request.headers["content-type"] ?? "");
}

/** Sent as bytes: for text, Fastify adds a charset to the content type, which some clients compare exactly. */
export function answerRefusal(request: FastifyRequest, reply: FastifyReply, error: unknown): void {
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
