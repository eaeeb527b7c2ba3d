// Calls URLs entered by users: only public or allowed hosts (SSRF protection), limited in time and size.
import { lookup as systemLookup } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import { Agent, buildConnector, type Dispatcher, fetch } from "undici";
import { type Guard, guardOf, plainName } from "./outbound-targets.ts";

/** A forbidden call. The message is a sentence for the user: which host, why, and what allows it. */
export class OutboundRefused extends Error {
  override name = "OutboundRefused";
  /** Of the reply that redirects where the call may not follow; null: there was no reply. */
  readonly status: number | null;

  constructor(message: string, status: number | null = null) {
    super(message);
    this.status = status;
  }
}

/** The reply is too large. Thrown while the body is read, after `fetch` has resolved. */
export class OutboundTooLarge extends Error {
  override name = "OutboundTooLarge";
}

/** All IP addresses of a name; rejects if there is none. */
export type Resolve = (host: string) => Promise<{ address: string; family: number }[]>;

export type OutboundOptions = {
  /** Host names, IP addresses and networks that may be called although they are not public. */
  allow: readonly string[];
  resolve?: Resolve;
  /** Aborts after this many milliseconds with a `TimeoutError`. */
  timeout?: (ms: number) => AbortSignal;
};

export type OutboundInit = {
  method?: string;
  headers?: Record<string, string> | [string, string][] | Headers;
  body?: string | Uint8Array<ArrayBuffer> | null;
  signal?: AbortSignal | null;
};

export type OutboundLimits = {
  /** Of the body, decompressed. */
  replyBytesMax?: number;
  /** For the whole call: redirects, headers and body. */
  timeoutMs?: number;
  redirectsMax?: number;
};

export type Outbound = {
  /**
   * Rejects with OutboundRefused, with the reason of `init.signal` or the timeout, or with a TypeError whose cause says
   * why the host could not be reached. Follows redirects, except those that would drop the body, which are returned; another
   * origin gets only harmless headers.
   */
  fetch(url: string | URL, init?: OutboundInit, limits?: OutboundLimits): Promise<Response>;
  /** Aborts open calls. */
  close(): Promise<void>;
};

export const outboundLimits = { replyBytesMax: 1_048_576, timeoutMs: 60_000, redirectsMax: 5 };

// Per host; several of its IP addresses may be tried in this time.
const connectTimeoutMs = 10_000;
// Per IP address of several; the default is too short for distant hosts.
const attemptTimeoutMs = 2_000;

export function openOutbound({
  allow,
  resolve = host => systemLookup(host, { all: true }),
  timeout = ms => AbortSignal.timeout(ms),
}: OutboundOptions): Outbound {
  // A new connection for every call: a reused one could break during a request that must not be sent twice.
  const dispatcher = new Agent({
    connect: guardedConnector(guardOf(allow), resolve),
    pipelining: 0,
    allowH2: false,
  });
  return {
    async fetch(url, init = {}, limits = {}) {
      const { replyBytesMax, timeoutMs, redirectsMax } = { ...outboundLimits, ...limits };
      const timedOut = timeout(timeoutMs);
      const signal = init.signal ? AbortSignal.any([timedOut, init.signal]) : timedOut;
      const response = await follow(dispatcher, firstHop(url, init), signal, redirectsMax);
      return bounded(response, replyBytesMax, signal);
    },
    close: () => dispatcher.destroy(),
  };
}

/** Connects to exactly the IP addresses that were checked. */
function guardedConnector(guard: Guard, resolve: Resolve): buildConnector.connector {
  const lookup: LookupFunction = (host, _options, callback) => {
    resolve(host).then(
      addresses => {
        for (const { address } of addresses) {
          const why = guard(host, address);
          if (why !== undefined) return callback(refusedTarget(host, why), []);
        }
        callback(null, addresses);
      },
      error => callback(error, []),
    );
  };
  const connect = buildConnector({
    lookup,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: attemptTimeoutMs,
    timeout: connectTimeoutMs,
    allowH2: false,
    maxCachedSessions: 0,
  } as buildConnector.BuildOptions);
  return (options, callback) => {
    const host = plainName(options.hostname);
    // An IP address is connected to without a lookup.
    const why = isIP(host) ? guard(host, host) : undefined;
    if (why !== undefined) callback(refusedTarget(host, why), null);
    else connect(options, callback);
  };
}

function refusedTarget(host: string, why: string): OutboundRefused {
  const name = plainName(host);
  const kind = `${why.startsWith("un") ? "an" : "a"} ${why} address`;
  const place = isIP(name) ? `${name} is ${kind}` : `${name} leads to ${kind}`;
  return new OutboundRefused(
    `${place}, which this service does not call. The operator of the service can allow it: SVC_ALLOW_PRIVATE_TARGETS=${name}.`,
  );
}

type Hop = { url: URL; method: string; headers: Headers; body: string | Uint8Array<ArrayBuffer> | null };

function firstHop(url: string | URL, init: OutboundInit): Hop {
  const headers = new Headers(init.headers);
  // These follow from the URL and the body; a user's values could contradict them.
  for (const name of derivedHeaders) headers.delete(name);
  return {
    url: callable(String(url)),
    method: (init.method ?? "GET").toUpperCase(),
    headers,
    body: init.body ?? null,
  };
}

const derivedHeaders = ["host", "connection", "content-length", "keep-alive", "transfer-encoding", "upgrade"];

/** Never repeats the URL: it may contain a password. */
function callable(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href);
  if (url === null) throw new OutboundRefused("The URL is invalid.");
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new OutboundRefused(`Only http and https are called, not ${url.protocol.slice(0, -1)}.`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new OutboundRefused(
      `The URL of ${url.host} contains a user name or password. Send them in a header instead.`,
    );
  }
  return url;
}

async function follow(
  dispatcher: Dispatcher,
  first: Hop,
  signal: AbortSignal,
  redirectsMax: number,
): Promise<Reply> {
  let hop = first;
  for (let redirects = 0; ; redirects += 1) {
    const response = await send(dispatcher, hop, signal);
    const location = isRedirect(response.status) ? response.headers.get("location") : null;
    if (location === null || (redirectsMax > 0 && dropsBody(response.status, hop.method))) return response;
    await response.body?.cancel();
    if (redirects === redirectsMax) {
      const much =
        redirectsMax === 0 ? "elsewhere, which is not followed" : `more than ${redirectsMax} times`;
      throw new OutboundRefused(`${first.url.host} redirects ${much}.`, response.status);
    }
    hop = nextHop(hop, callable(location, hop.url));
  }
}

type Reply = Awaited<ReturnType<typeof fetch>>;

async function send(dispatcher: Dispatcher, hop: Hop, signal: AbortSignal): Promise<Reply> {
  const { url, method, headers, body } = hop;
  try {
    const init = { method, headers: [...headers], body, signal, dispatcher };
    return await fetch(url, { ...init, redirect: "manual" });
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    if (cause instanceof OutboundRefused) throw cause;
    if (cause instanceof Error && cause.message === "bad port") {
      throw new OutboundRefused(`Port ${url.port} is not called: it belongs to another protocol than HTTP.`);
    }
    throw error;
  }
}

function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

// Headers that identify nobody. Any other header may be a credential, whatever its name, and stays with its origin.
const harmlessHeaders = new Set([
  "accept",
  "accept-language",
  "content-type",
  "traceparent",
  "tracestate",
  "user-agent",
  "x-request-id",
]);

/** Browsers would follow with a GET, as they do after a form was posted: what was asked would get lost. */
function dropsBody(status: number, method: string): boolean {
  if (method === "GET" || method === "HEAD") return false;
  return status === 303 || ((status === 301 || status === 302) && method === "POST");
}

function nextHop(from: Hop, url: URL): Hop {
  const headers = new Headers(from.headers);
  if (url.origin !== from.url.origin) {
    for (const name of [...headers.keys()]) if (!harmlessHeaders.has(name)) headers.delete(name);
  }
  return { ...from, url, headers };
}

/** The same reply; its body fails with OutboundTooLarge beyond the limit, and when `signal` is aborted. */
async function bounded(reply: Reply, bytesMax: number, signal: AbortSignal): Promise<Response> {
  const { status, statusText, headers } = reply;
  const body = reply.body as ReadableStream<Uint8Array<ArrayBuffer>> | null;
  const bodiless = [204, 205, 304].includes(status);
  if (status < 200 || status > 599 || bodiless) await body?.cancel();
  if (status < 200 || status > 599) {
    throw new TypeError("fetch failed", { cause: new Error(`${status} is not an HTTP status`) });
  }
  let bytes = 0;
  const limit = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes <= bytesMax) controller.enqueue(chunk);
      else controller.error(new OutboundTooLarge(`The reply is larger than ${bytesMax} bytes.`));
    },
  });
  const stream = bodiless ? null : (body?.pipeThrough(limit, { signal }) ?? null);
  return new Response(stream, { status, statusText, headers: [...headers] });
}
