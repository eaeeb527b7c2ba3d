// Sends requests to the ingestion endpoint, byte by byte if needed, and reads responses in both encodings.
import assert from "node:assert/strict";
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from "node:http";
import { buffer } from "node:stream/consumers";
import protobuf from "protobufjs";
import { CanonicalStored } from "../../src/http/ingestion/public-traces-schema.ts";
import type { RefusalCode } from "../../src/model/refusals.ts";

export const json = "application/json";
export const proto = "application/x-protobuf";

export type Sent = {
  method?: string;
  path?: string;
  /** Null sends no key. */
  key?: string | null;
  /** The Content-Type; null sends none. */
  type?: string | null;
  /** A list sends the header once for each value. */
  headers?: OutgoingHttpHeaders;
  /** Anything but bytes and text is sent as JSON. */
  body?: unknown;
  /** Sent in chunks, without a Content-Length. */
  chunked?: boolean;
};

export type Answer = { status: number; statusMessage: string; headers: IncomingHttpHeaders; bytes: Buffer };

/** `to.key` is sent if `sent` names no key. Always on a new connection. */
export function send(to: { url: string; key: string }, sent: Sent = {}): Promise<Answer> {
  const { method = "POST", path = "/public/traces", key = to.key, type = json, chunked = false } = sent;
  const body = bytesOf(sent.body);
  return new Promise((resolve, reject) => {
    const outgoing = request(to.url + path, {
      method,
      agent: false,
      headers: {
        ...(key !== null && { "x-api-key": key }),
        ...(type !== null && { "content-type": type }),
        ...(chunked ? { "transfer-encoding": "chunked" } : { "content-length": body.length }),
        ...sent.headers,
      },
    });
    outgoing.on("error", reject);
    outgoing.on("response", response => {
      buffer(response).then(
        bytes =>
          resolve({
            status: response.statusCode!,
            statusMessage: response.statusMessage!,
            headers: response.headers,
            bytes,
          }),
        reject,
      );
    });
    outgoing.end(body);
  });
}

function bytesOf(body: unknown): Buffer {
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === "string" ? body : body === undefined ? "" : JSON.stringify(body));
}

/** The response's JSON; its Content-Type must be exactly `application/json`. */
// biome-ignore lint/suspicious/noExplicitAny: the test decides what a response should be.
export function jsonOf({ headers, bytes }: Answer): any {
  assert.equal(headers["content-type"], json);
  return JSON.parse(bytes.toString());
}

/** The id of the trace that a canonical body was stored as. */
export function traceIdOf(answer: Answer): string {
  assert.ok(answer.status === 200 || answer.status === 201, answer.bytes.toString());
  return CanonicalStored.parse(jsonOf(answer)).traceId;
}

const messages = protobuf.parse(`
  syntax = "proto3";
  message Status { int32 code = 1; string message = 2; }
  message PartialSuccess { int64 rejected_spans = 1; string error_message = 2; }
  message ExportTraceServiceResponse { PartialSuccess partial_success = 1; }
`).root;

/** The response as an OTLP message; its Content-Type must be exactly `application/x-protobuf`. */
export function messageOf(
  { headers, bytes }: Answer,
  name: "Status" | "ExportTraceServiceResponse",
  // biome-ignore lint/suspicious/noExplicitAny: as above.
): any {
  assert.equal(headers["content-type"], proto);
  const type = messages.lookupType(name);
  return type.toObject(type.decode(bytes), { longs: Number });
}

const rpcCodes: Record<number, number> = {
  400: 3,
  401: 16,
  403: 7,
  404: 5,
  405: 12,
  408: 4,
  413: 8,
  415: 3,
  429: 8,
  500: 13,
  503: 14,
};

export type Refused = {
  message: string;
  hint?: string;
  issues?: { path: string; message: string }[];
};

/** Asserts that the response is this refusal, in the encoding of its Content-Type, and returns its content. */
export function refused(answer: Answer, status: number, code: RefusalCode): Refused {
  const isProto = answer.headers["content-type"] === proto;
  const said = isProto ? statusOf(answer, status) : jsonOf(answer);
  assert.deepEqual([answer.status, said.code], [status, code], said.message);
  assert.ok(said.message.length > 10);
  assert.equal(answer.headers["x-svc-trace-id"], undefined);
  if (!isProto) {
    assert.match(said.requestId, /^[0-9a-f-]{36}$/);
    const fields = ["code", "message", "hint", "issues", "requestId"];
    assert.deepEqual(
      Object.keys(said).filter(field => !fields.includes(field)),
      [],
    );
  }
  return said;
}

/** A google.rpc.Status, with its message `CODE: message (hint)` split up. */
function statusOf(answer: Answer, status: number): Refused & { code: string } {
  const { code, message } = messageOf(answer, "Status") as { code: number; message: string };
  assert.equal(code, rpcCodes[status]);
  const [, name, text, hint] = /^([A-Z_]+): (.*?)(?: \((.*)\))?$/s.exec(message) ?? assert.fail(message);
  return { code: name!, message: text!, ...(hint !== undefined && { hint }) };
}
