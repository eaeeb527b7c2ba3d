// Answers on the socket where there is no request to reply to: invalid HTTP, unknown methods, CONNECT and timeouts.
import { randomUUID } from "node:crypto";
import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { Refusal } from "../model/refusal.ts";
import type { App } from "./deps.ts";
import { drainMs } from "./drain.ts";
import {
  encodeRefusal,
  isIngestion,
  mediaTypeOf,
  type Sender,
  senderOf,
} from "./ingestion/answer-refusal.ts";
import { markTimedOut, refusalBody } from "./refuse.ts";
import { wrongMethod } from "./wrong-method.ts";

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

type MethodsAt = (path: string) => string[];

const answered = new WeakSet<Socket>();

/** Without a listener, Node closes the connection of a CONNECT request without an answer. */
export function refuseTunnels(app: App, methodsAt: MethodsAt): void {
  app.server.on("connect", (request, duplex) => {
    const socket = duplex as Socket;
    // It is no longer the HTTP server's, so nothing else listens.
    socket.on("error", () => socket.destroy());
    const path = request.url!.split("?", 1)[0]!;
    const allow = methodsAt(path);
    const refusal = allow.length > 0 ? wrongMethod(path, allow) : new Refusal("NOT_FOUND");
    write(socket, refusal, { sender: senderOf(request), headers: allowed(allow) });
    socket.destroySoon();
  });
}

type ClientError = { code?: string; rawPacket?: unknown };

export function refuseUnreadable(error: ClientError, socket: Socket, methodsAt: MethodsAt): void {
  if (error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  // The parser fails again at whatever the client still sends, which is discarded.
  if (answered.has(socket)) return;
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const unfinished = unfinishedRequest(socket);
  const sender = unfinished ? senderOf(unfinished.request) : readHead(error);
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") {
    const refusal = new Refusal("REQUEST_TIMEOUT", {
      hint: "Retry. If this repeats, check the network, or send less in one request.",
      retryAfterSeconds: 1,
    });
    if (unfinished) markTimedOut(unfinished.request, refusal);
    // If not even the headers arrived, the response is the one for a sender of traces, which all others can read too.
    const likely = unfinished ? sender : { method: "POST", url: "/public/traces" };
    write(socket, refusal, { sender: likely, id: unfinished?.id, headers: ["Retry-After: 1"] });
    return;
  }
  if (error.code === "HPE_INVALID_METHOD") {
    const { url: path = "" } = sender;
    const allow = methodsAt(path);
    if (allow.length > 0) {
      write(socket, wrongMethod(path, allow), { sender, headers: allowed(allow) });
      return;
    }
  }
  if (error.code === "HPE_HEADER_OVERFLOW") {
    const refusal = new Refusal("VALIDATION_ERROR", { message: "The request's headers are too large." });
    write(socket, refusal, { sender, status: 431 });
    return;
  }
  const refusal = new Refusal("VALIDATION_ERROR", { message: "The request is not valid HTTP." });
  write(socket, refusal, { sender, id: unfinished?.id });
}

function allowed(methods: string[]): string[] {
  return methods.length > 0 ? [`Allow: ${methods.join(", ")}`] : [];
}

/** The request whose body has not arrived; undefined if not even its headers have. */
function unfinishedRequest(socket: Socket): Identified | undefined {
  const identified = latest.get(socket);
  return identified?.request.complete ? undefined : identified;
}

/** What the parser gave up on, if it was the head of a request. */
function readHead({ rawPacket }: ClientError): Sender {
  const [head] = String(rawPacket).split("\r\n\r\n", 1);
  const [, method, url] = /^([\w!#$%&'*+.^`|~-]+) (\/[^ ?]*)(?:\?[^ ]*)? HTTP\/1\.[01]\r\n/.exec(head!) ?? [];
  return { method, url, contentType: /\r\ncontent-type:([^\r]*)/i.exec(head!)?.[1] };
}

function write(
  socket: Socket,
  refusal: Refusal,
  {
    sender = {},
    id = randomUUID(),
    headers = [],
    status = refusal.status,
  }: { sender?: Sender; id?: string | undefined; headers?: string[]; status?: number },
): void {
  const { reason, contentType, body } = isIngestion(sender)
    ? encodeRefusal(refusal, id, mediaTypeOf(sender), status)
    : {
        reason: STATUS_CODES[status],
        contentType: "application/json; charset=utf-8",
        body: Buffer.from(JSON.stringify(refusalBody(refusal, id))),
      };
  const head = [
    `HTTP/1.1 ${status} ${reason}`,
    ...headers,
    "Connection: close",
    `Content-Type: ${contentType}`,
    `Content-Length: ${body.length}`,
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  socket.end(body);
  answered.add(socket);
  // A connection closed with data unread is reset, and a client that still sends then never reads the answer.
  const timer = setTimeout(() => socket.destroy(), drainMs).unref();
  socket.once("close", () => clearTimeout(timer));
}
