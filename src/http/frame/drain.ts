// Sends a refusal only after the rest of the request's body: what is left of a body on a connection would be read as the
// next request, also that of another client behind the same proxy.
import type { IncomingMessage } from "node:http";
import { PassThrough, type Readable } from "node:stream";
import type { App } from "./deps.ts";

/**
 * How long to wait for the body, and again for the client to read the response. Behind HAProxy, Caddy, nginx and Apache,
 * clients that still sent a body lost every third refusal without the wait, and none with it.
 */
export const drainMs = 2_000;

/** Holds back every response of 400 and above until the request's body has been received and discarded. */
export function drainBeforeRefusing(app: App): void {
  app.addHook("onSend", async (request, reply, payload) => {
    const { raw } = request;
    if (reply.statusCode < 400 || raw.complete || raw.destroyed || !hasBody(raw)) return payload;
    // A client that waits to be asked for its body may send it all the same, so its connection is closed, too.
    if (raw.headers.expect === undefined) await discarded(raw);
    if (raw.complete || raw.destroyed) return payload;
    reply.header("connection", "close");
    if (typeof payload !== "string" && !Buffer.isBuffer(payload)) return payload;
    reply.header("content-length", Buffer.byteLength(payload));
    return whileDiscarding(raw, payload);
  });
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/** Resolves when the whole body was discarded, the connection ended, or the time is up. */
async function discarded(request: IncomingMessage): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, drainMs);
  request.once("end", resolve).once("close", resolve);
  discard(request);
  await promise;
  clearTimeout(timer);
  request.off("end", resolve).off("close", resolve);
}

/**
 * Sends the whole response, but ends it only when the client has finished sending, or is disconnected after `drainMs`.
 * Node closes the connection at the end of the response, and a client that is still writing then never reads it.
 */
function whileDiscarding(request: IncomingMessage, payload: string | Buffer): Readable {
  const answer = new PassThrough();
  answer.write(payload);
  const timer = setTimeout(() => request.socket.destroy(), drainMs).unref();
  request.once("close", () => {
    clearTimeout(timer);
    answer.end();
  });
  discard(request);
  return answer;
}

const discarding = new WeakSet<IncomingMessage>();

/**
 * Reads on in small steps, one in each turn of the event loop. libuv reads up to 2 MB at once from a socket whose client is
 * fast: with 60 such clients a turn took a tenth of a second, and other requests, which need about ten turns, a second.
 */
function discard(request: IncomingMessage): void {
  if (!discarding.has(request)) {
    discarding.add(request);
    request.on("data", () => {
      request.pause();
      setImmediate(() => request.resume());
    });
  }
  request.resume();
}
