// Receives requests of the public ingestion endpoints and answers them in the sender's encoding.
import type { FastifyReply, FastifyRequest } from "fastify";
import type { IngestRequest } from "../../ingest/admit.ts";
import { Refusal } from "../../model/refusal.ts";
import type { Permits, Release } from "../../threads/fair-semaphore.ts";
import { encodeSuccess, type PartialSuccess } from "../../wire/otlp-reply.ts";
import { type Deps, quotasOf } from "../frame/deps.ts";
import { holdersOf, placesOfKeys, takePlace } from "../frame/places.ts";
import { type LimitWrongKeys, limitWrongKeys } from "../frame/wrong-keys.ts";
import { answerRefusal, contentTypes, mediaTypeOf, senderOf } from "./answer-refusal.ts";
import { DailyBytes } from "./daily-bytes.ts";
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
  dailyBytes: DailyBytes;
};

export function openReceiving(deps: Pick<Deps, "config" | "db" | "limitAccounts" | "machine">): Receiving {
  const { machine } = deps;
  return {
    reader: new BodyReader({ machine }),
    // Divided, not shared: every request needs one, and asking another process would cost as much as a look-up.
    places: placesOfKeys(Math.ceil(requestsMax / (machine?.processes ?? 1))),
    wrongKeys: limitWrongKeys(deps),
    keyLimits: limitKeys(deps.db),
    dailyBytes: new DailyBytes(deps.db, quotasOf(deps.config).bytesPerDay),
  };
}

/** Calls `ingest`, which answers, or answers with the Refusal that it throws. */
export async function receive(
  { reader, places, wrongKeys, keyLimits, dailyBytes }: Receiving,
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
        dailyBytes.require(key.accountId);
        await keyLimits(key, reply);
        const holders = holdersOf(key);
        const signal = goneOf(request.raw);
        release = await takePlace(places, { holders, what: "requests", waitMs: placeWaitMs, signal });
        const body = await reader.read(request.raw, reply.raw, encoding, mediaType, holders);
        dailyBytes.add(key.accountId, body.bytes.length);
        return body;
      },
    });
  } catch (error) {
    const isWrongKey = error instanceof Refusal && error.code === "UNAUTHORIZED" && key;
    answerRefusal(request, reply, isWrongKey ? await wrongKeys(request.clientIp, error) : error);
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
  const mediaType = mediaTypeOf(senderOf(request.raw));
  const body = encodeSuccess(mediaType, partial);
  reply.code(200).header("content-type", contentTypes[mediaType]).send(body);
}
