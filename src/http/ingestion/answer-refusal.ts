// Encodes Refusals for senders of traces and logs: in JSON or protobuf, with the code in the HTTP reason phrase.
import { STATUS_CODES } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Refusal } from "../../model/refusal.ts";
import type { MediaType } from "../../wire/media-type.ts";
import { encodeStatus } from "../../wire/otlp-reply.ts";
import { isOutage, logOutage } from "../frame/outage-log.ts";
import { asRefusal, refusalBody } from "../frame/refuse.ts";
import { metrics } from "../health.ts";
import { wrongPaths } from "./wrong-paths.ts";

/** What a request tells about its sender. */
export type Sender = {
  method?: string | undefined;
  url?: string | undefined;
  contentType?: string | undefined;
};

export const contentTypes = { json: "application/json", protobuf: "application/x-protobuf" } as const;

/** Protobuf if the client sends it, and so reads every response as protobuf, errors included. */
export function mediaTypeOf({ contentType = "" }: Sender): MediaType {
  return /^\s*application\/(x-)?protobuf\s*(;|$)/i.test(contentType) ? "protobuf" : "json";
}

const misdirected = new Set(wrongPaths);

/** Whether the request is for ingestion, or sent to a path that exporters use by mistake. */
export function isIngestion({ method, url = "" }: Sender): boolean {
  const path = url.split("?", 1)[0]!;
  if (path === "/") return method === "POST";
  return path.startsWith("/public/") || misdirected.has(path);
}

export function senderOf({
  method,
  url,
  headers,
}: Pick<FastifyRequest["raw"], "method" | "url" | "headers">) {
  return { method, url, contentType: headers["content-type"] } satisfies Sender;
}

/** Sent as bytes: for text, Fastify adds a charset to the content type, which some clients compare exactly. */
export function answerRefusal(request: FastifyRequest, reply: FastifyReply, error: unknown): void {
  const refusal = asRefusal(error, request.method);
  if (refusal.code === "INTERNAL") request.log.error({ err: error }, "ingestion failed");
  else if (isOutage(refusal)) logOutage(request, refusal, refusal.message);
  else if (refusal.code === "UNAVAILABLE") request.log.warn({ err: refusal.cause }, refusal.message);
  metrics.ingestRequests.inc({ code: refusal.code });
  if (refusal.retryAfterSeconds !== undefined) reply.header("retry-after", refusal.retryAfterSeconds);
  const { reason, contentType, body } = encodeRefusal(
    refusal,
    request.id,
    mediaTypeOf(senderOf(request.raw)),
  );
  reply.raw.statusMessage = reason;
  reply
    .code(refusal.status)
    .header("content-type", contentType)
    .header("content-length", body.length)
    .send(body);
}

export function encodeRefusal(
  refusal: Refusal,
  requestId: string,
  mediaType: MediaType,
): { reason: string; contentType: string; body: Buffer } {
  const body =
    mediaType === "protobuf"
      ? encodeStatus(refusal)
      : Buffer.from(JSON.stringify(refusalBody(refusal, requestId)));
  return { reason: reasonPhrase(refusal), contentType: contentTypes[mediaType], body };
}

const reasonHintMax = 120;

/** The standard phrase, code and hint: Python's exporter prints nothing else of an error. */
function reasonPhrase({ code, hint = "", status }: Refusal): string {
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
