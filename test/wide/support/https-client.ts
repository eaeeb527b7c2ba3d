// Sends requests to a proxy by HTTP/1.1 or HTTP/2, as a client at 127.0.0.2 that calls it by its public name.
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import {
  type ClientHttp2Stream,
  type ClientSessionRequestOptions,
  connect as connectHttp2,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from "node:http2";
import { request } from "node:https";
import { buffer } from "node:stream/consumers";
import { connect as connectTls } from "node:tls";
import { publicHost } from "./proxies.ts";

export const clientAddress = "127.0.0.2";

export type Target = { port: number; ca: string };

export type Sent = {
  method?: string;
  path: string;
  headers?: Record<string, string | number>;
  body?: Buffer | string;
  /** The name in the URL, for TLS and the Host header. */
  host?: string;
};

/** `cookies`: the Set-Cookie headers. */
export type Answer = { status: number; type: string; cookies: string[]; text: string };

export type Version = "HTTP/1.1" | "HTTP/2";

/** On a new connection. Rejects if the connection breaks before the whole response has arrived. */
export function send(version: Version, target: Target, sent: Sent): Promise<Answer> {
  return version === "HTTP/2" ? sendOnce(target, sent) : sendHttp1(target, sent);
}

function sendHttp1({ port, ca }: Target, sent: Sent): Promise<Answer> {
  const { method = "GET", path, headers = {}, body, host = publicHost } = sent;
  return new Promise((resolve, reject) => {
    const outgoing = request({
      ...{ host: "127.0.0.1", port, localAddress: clientAddress, agent: false },
      ...{ servername: host, ca, ALPNProtocols: ["http/1.1"], method, path },
      headers: { host, ...lengthOf(body), ...headers },
    });
    let answered = false;
    // An error while the client still writes is none once the response is there.
    outgoing.on("error", error => {
      if (!answered) reject(error);
    });
    outgoing.on("response", response => {
      answered = true;
      buffer(response).then(bytes => {
        const { "content-type": type = "", "set-cookie": cookies = [] } = response.headers;
        resolve({ status: response.statusCode!, type, cookies, text: bytes.toString() });
      }, reject);
    });
    outgoing.end(body);
  });
}

async function sendOnce(target: Target, sent: Sent): Promise<Answer> {
  const session = await openSession(target, sent.host);
  try {
    return await sendOn(session, sent);
  } finally {
    session.destroy();
  }
}

/** A connection by HTTP/2. */
export type Session = {
  request(headers: OutgoingHttpHeaders, options?: ClientSessionRequestOptions): ClientHttp2Stream;
  destroy(): void;
};

export async function openSession({ port, ca }: Target, host: string = publicHost): Promise<Session> {
  const socket = connectTls({
    ...{ host: "127.0.0.1", port, localAddress: clientAddress, servername: host, ca, ALPNProtocols: ["h2"] },
  });
  await once(socket, "secureConnect");
  const session = connectHttp2(`https://${host}`, { createConnection: () => socket });
  session.on("error", () => {}); // the streams report it
  return {
    // Node would add the default port to the name; browsers do not.
    request: (headers, options) => session.request({ ":authority": host, ...headers }, options),
    destroy: () => session.destroy(),
  };
}

export async function sendOn(session: Session, sent: Sent): Promise<Answer> {
  const { method = "GET", path, headers = {}, body } = sent;
  const stream = session.request(
    { ":method": method, ":path": path, ...lengthOf(body), ...headers },
    { endStream: body === undefined },
  );
  stream.on("error", () => {}); // of the part of the body that nobody reads
  if (body !== undefined) stream.end(body);
  const answer = await responseOf(stream);
  const bytes = await buffer(stream);
  return {
    status: Number(answer[":status"]),
    type: answer["content-type"] ?? "",
    cookies: answer["set-cookie"] ?? [],
    text: bytes.toString(),
  };
}

/** Rejects if the stream ends without a response, with an error or without: a proxy may close the whole connection. */
async function responseOf(stream: ClientHttp2Stream): Promise<IncomingHttpHeaders> {
  const responded = new AbortController();
  const { signal } = responded;
  const closed = once(stream, "close", { signal }).then(() => {
    throw new Error(`the stream was closed before a response (code ${stream.rstCode})`);
  });
  try {
    const [answer] = await Promise.race([once(stream, "response", { signal }), closed]);
    return answer;
  } finally {
    responded.abort();
  }
}

/**
 * A client that resets a request while it sends the body, on a connection of its own: a proxy may close it with the
 * request, which is not an error.
 */
export async function disconnect(target: Target, { path, headers = {} }: Sent): Promise<void> {
  const session = await openSession(target);
  const stream = session.request({ ":method": "POST", ":path": path, ...headers });
  stream.on("error", () => {});
  const closed = new Promise(resolve => stream.once("close", resolve));
  const written = new Promise(resolve => stream.write(Buffer.alloc(50_000, " "), resolve));
  await Promise.race([written, closed]);
  stream.close(8); // CANCEL
  await closed;
  session.destroy();
}

/** An open event stream; `received` is its text so far. */
export type Events = { received(): string; close(): void };

export async function openEvents(version: Version, target: Target, cookie: string): Promise<Events> {
  const path = "/api/events";
  const session = version === "HTTP/2" ? await openSession(target) : undefined;
  const stream = session
    ? session.request({ ":path": path, cookie })
    : await openHttp1(target, { path, headers: { cookie } });
  let received = "";
  stream.on("error", () => {});
  stream.setEncoding("utf8").on("data", text => {
    received += text;
  });
  return {
    received: () => received,
    close() {
      stream.destroy();
      session?.destroy();
    },
  };
}

async function openHttp1({ port, ca }: Target, { path, headers }: Sent): Promise<IncomingMessage> {
  const outgoing = request({
    ...{ host: "127.0.0.1", port, localAddress: clientAddress, agent: false },
    ...{ servername: publicHost, ca, path, headers: { host: publicHost, ...headers } },
  });
  outgoing.end();
  const [response] = await once(outgoing, "response");
  return response;
}

/** A POST that announces a body, sends none, and is reset after `ms`. */
export async function sendNoBody(session: Session, path: string, ms: number): Promise<void> {
  const headers = { "content-type": "application/json", "content-length": 40, "x-api-key": "svc_wrong" };
  const stream = session.request({ ":method": "POST", ":path": path, ...headers }, { endStream: false });
  stream.on("error", () => {});
  setTimeout(() => stream.close(8), ms); // CANCEL
  await once(stream, "close");
}

function lengthOf(body: Buffer | string | undefined): Record<string, number> {
  return body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
}
