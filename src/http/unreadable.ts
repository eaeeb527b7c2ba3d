// Answers on the socket where there is no request to reply to: 405 for methods that Node does not know, 408 for requests that
// took too long to arrive, and a bare 400 for what is not HTTP.
import { randomUUID } from "node:crypto";
import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { Refusal } from "../model/refusal.ts";
import type { App } from "./frame/deps.ts";
import { drainMs } from "./frame/drain.ts";
import { markTimedOut, refusalBody } from "./frame/refuse.ts";
import {
  encodeRefusal,
  isIngestion,
  mediaTypeOf,
  type Sender,
  senderOf,
} from "./ingestion/answer-refusal.ts";
import { wrongPathHint } from "./ingestion/wrong-paths.ts";

type Identified = { request: IncomingMessage; id: string };
const latest = new WeakMap<Socket, Identified>();

/**
 * Returns a new id, and remembers the request of each connection: if its body takes too long to arrive, it is answered
 * with this id in its encoding.
 */
export function identify(request: IncomingMessage): string {
  const id = randomUUID();
  latest.set(request.socket, { request, id });
  return id;
}

/** Without a listener, Node closes the connection of a CONNECT request without an answer. */
export function refuseTunnels(app: App): void {
  app.server.on("connect", (_request, duplex) => {
    const socket = duplex as Socket;
    // It is no longer the HTTP server's, so nothing else listens.
    socket.on("error", () => socket.destroy());
    send(socket, 400);
  });
}

const answered = new WeakSet<Socket>();

type ClientError = { code?: string; rawPacket?: unknown };

export function refuseUnreadable(
  error: ClientError,
  socket: Socket,
  methodsAt: (path: string) => string[],
): void {
  // The parser fails again at whatever the client still sends, which is discarded.
  if (answered.has(socket)) return;
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") {
    refuseLate(socket);
    return;
  }
  const sender = error.code === "HPE_INVALID_METHOD" ? readHead(error) : {};
  const allow = sender.url === undefined ? [] : methodsAt(sender.url);
  if (allow.length > 0) {
    refuse(socket, wrongMethod(sender.url!, allow), { sender, header: `Allow: ${allow.join(", ")}` });
  } else send(socket, error.code === "HPE_HEADER_OVERFLOW" ? 431 : 400);
}

const listFormat = new Intl.ListFormat("en-US", { type: "disjunction" });

/** The 405 for a known path: it says which methods the path has, at least one, or where an exporter meant to send. */
export function wrongMethod(path: string, methods: string[]): Refusal {
  const isForSenders = methods.every(method => method === "POST");
  const misdirected = isForSenders ? wrongPathHint(path) : undefined;
  return new Refusal("METHOD_NOT_ALLOWED", { hint: misdirected ?? `Use ${listFormat.format(methods)}.` });
}

function refuseLate(socket: Socket): void {
  const refusal = new Refusal("REQUEST_TIMEOUT", {
    hint: "Retry. If this repeats, check the network, or send less in one request.",
    retryAfterSeconds: 1,
  });
  const identified = latest.get(socket);
  const unfinished = identified?.request.complete ? undefined : identified;
  if (unfinished) markTimedOut(unfinished.request, refusal);
  // If not even the headers arrived, the response is the one for a sender of traces, which all others can read too.
  const sender = unfinished ? senderOf(unfinished.request) : { method: "POST", url: "/public/traces" };
  refuse(socket, refusal, { sender, id: unfinished?.id, header: "Retry-After: 1" });
}

/** What the parser gave up on, if it was the head of a request. */
function readHead({ rawPacket }: ClientError): Sender {
  const [head] = String(rawPacket).split("\r\n\r\n", 1);
  const [, method, url] = /^([\w!#$%&'*+.^`|~-]+) (\/[^ ?]*)(?:\?[^ ]*)? HTTP\/1\.[01]\r\n/.exec(head!) ?? [];
  return { method, url, contentType: /\r\ncontent-type:([^\r]*)/i.exec(head!)?.[1] };
}

function refuse(
  socket: Socket,
  refusal: Refusal,
  { sender, id = randomUUID(), header }: { sender: Sender; id?: string | undefined; header: string },
): void {
  const { status } = refusal;
  const { reason, contentType, body } = isIngestion(sender)
    ? encodeRefusal(refusal, id, mediaTypeOf(sender))
    : {
        reason: STATUS_CODES[status],
        contentType: "application/json; charset=utf-8",
        body: Buffer.from(JSON.stringify(refusalBody(refusal, id))),
      };
  const headers = [header, `Content-Type: ${contentType}`, `Content-Length: ${body.length}`];
  send(socket, status, { reason, headers, body });
}

function send(
  socket: Socket,
  status: number,
  {
    reason = STATUS_CODES[status],
    headers = [],
    body,
  }: { reason?: string | undefined; headers?: string[]; body?: Buffer } = {},
): void {
  answered.add(socket);
  socket.write([`HTTP/1.1 ${status} ${reason}`, "Connection: close", ...headers, "\r\n"].join("\r\n"));
  socket.end(body ?? "");
  // A connection closed with data unread is reset, and a client that still sends then never reads the answer.
  const timer = setTimeout(() => socket.destroy(), drainMs).unref();
  socket.once("close", () => clearTimeout(timer));
}
