// Reads the body of an ingestion request, with limits on received and inflated bytes and on concurrent large bodies.
import type { IncomingMessage, ServerResponse } from "node:http";
import { Refusal } from "../../model/refusal.ts";
import type { Permits, Release } from "../../threads/fair-semaphore.ts";
import type { ContentEncoding, MediaType } from "../../wire/media-type.ts";
import type { Machine } from "../frame/machine.ts";
import { sharedPlacesOfKeys, takePlace } from "../frame/places.ts";
import { disconnected } from "../frame/refuse.ts";
import { inflateInline, inflateLarge } from "./inflate.ts";
import { defaultMinRate, enforceMinRate, type MinRate } from "./min-rate.ts";

/** The largest body, in bytes after decompression: exactly this many pass. */
export const bodyBytesMax = 31_457_280;

// A body larger than this needs one of the permits for large bodies until it has been decoded. The permits limit the
// memory of large bodies to 4 times 60 MB (compressed and inflated).
const largeBytes = 1024 * 1024;
const largePermits = 4;
// Some exporters give up 10 s after they began, retries included.
const permitWaitMs = 4_000;

export type Body = { bytes: Buffer; release: () => void };

export class BodyReader {
  readonly #places: Permits;
  readonly #minRate: MinRate;

  /** `minRate` applies to bodies with a permit. */
  constructor({
    minRate = defaultMinRate,
    machine,
  }: { minRate?: MinRate; machine?: Machine | undefined } = {}) {
    this.#places = sharedPlacesOfKeys({ machine, name: "large bodies", count: largePermits });
    this.#minRate = minRate;
  }

  /**
   * The body after decompression; `release` must be called once its bytes are no longer needed. `holders`: the account
   * and key that hold the permit. Throws PAYLOAD_TOO_LARGE; RATE_LIMITED or UNAVAILABLE if they get no permit for a
   * large body; UNAVAILABLE if the upload is too slow; and VALIDATION_ERROR or OTLP_PROTOBUF_INVALID for gzip that is corrupt, truncated or followed by other bytes.
   */
  async read(
    request: IncomingMessage,
    response: ServerResponse,
    encoding: ContentEncoding,
    mediaType: MediaType,
    holders: readonly string[],
  ): Promise<Body> {
    const declared = Number(request.headers["content-length"] ?? 0);
    const receivedMax = encoding === "gzip" ? bodyBytesMax + 1024 * 1024 : bodyBytesMax;
    if (declared > receivedMax) throw tooLarge();
    const permit = new Permit(this.#places, holders, goneOf(request));
    try {
      if (declared > largeBytes) await permit.acquire();
      if (awaitsContinue(request)) response.writeContinue();
      const received = await receive(request, {
        declared,
        bytesMax: receivedMax,
        permit,
        minRate: this.#minRate,
      });
      const bytes = encoding === "gzip" ? await inflate(received, mediaType, permit) : received;
      return { bytes, release: () => permit.release() };
    } catch (error) {
      permit.release();
      throw error;
    }
  }
}

/** Node responds to all other Expect headers itself, and ignores them in HTTP/1.0. */
function awaitsContinue({ headers, httpVersion }: IncomingMessage): boolean {
  return headers.expect !== undefined && httpVersion === "1.1";
}

/** Aborts when the client disconnects. */
export function goneOf(request: IncomingMessage): AbortSignal {
  const gone = new AbortController();
  request.once("close", () => {
    if (!request.complete) gone.abort();
  });
  if (request.destroyed) gone.abort();
  return gone.signal;
}

/** The permit of one large body, acquired at most once and never after its release. */
class Permit {
  readonly #places: Permits;
  readonly #holders: readonly string[];
  readonly #gone: AbortSignal;
  #released = false;
  #release: Release | undefined;

  constructor(places: Permits, holders: readonly string[], gone: AbortSignal) {
    this.#places = places;
    this.#holders = holders;
    this.#gone = gone;
  }

  async acquire(): Promise<void> {
    if (this.#release) return;
    const release = await takePlace(this.#places, {
      holders: this.#holders,
      what: "large requests",
      waitMs: permitWaitMs,
      signal: this.#gone,
    });
    if (this.#released) release();
    else this.#release = release;
  }

  get acquired(): boolean {
    return this.#release !== undefined;
  }

  release(): void {
    this.#released = true;
    this.#release?.();
    this.#release = undefined;
  }
}

type Receiving = { declared: number; bytesMax: number; permit: Permit; minRate: MinRate };

function receive(
  request: IncomingMessage,
  { declared, bytesMax, permit, minRate }: Receiving,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // The client may have disconnected while the request waited for its permit.
    if (request.destroyed) return reject(disconnected(request));
    // A large body whose length is known is copied as it arrives, since its chunks take as much memory again.
    const whole = declared > largeBytes ? Buffer.allocUnsafeSlow(declared) : undefined;
    const chunks: Buffer[] = [];
    let size = 0;
    let ended = false;
    let monitor: ReturnType<typeof enforceMinRate> | undefined;
    const startMonitor = () => {
      if (!ended) monitor = enforceMinRate(minRate, () => end(tooSlow()));
    };
    const end = (error?: unknown) => {
      ended = true;
      monitor?.stop();
      request.off("data", onData).off("end", onEnd).off("error", onCut).off("close", onCut);
      if (error) {
        request.pause();
        reject(error);
      } else
        resolve(whole?.subarray(0, size) ?? (chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size)));
    };
    const onData = (chunk: Buffer) => {
      if (whole) chunk.copy(whole, size);
      else chunks.push(chunk);
      size += chunk.length;
      monitor?.count(chunk.length);
      if (size > bytesMax) return end(tooLarge());
      if (size > largeBytes && !permit.acquired) {
        request.pause();
        permit.acquire().then(() => {
          startMonitor();
          request.resume();
        }, end);
      }
    };
    const onEnd = () => end();
    const onCut = () => end(disconnected(request));
    if (permit.acquired) startMonitor();
    request.on("data", onData).on("end", onEnd).on("error", onCut).on("close", onCut);
  });
}

async function inflate(bytes: Buffer, mediaType: MediaType, permit: Permit): Promise<Buffer> {
  let inflated: Buffer | "too large";
  try {
    inflated = inflateInline(bytes) ?? (await inflateWithPermit(bytes, permit));
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw corrupt(mediaType, error);
  }
  if (inflated === "too large") throw tooLarge();
  return inflated;
}

async function inflateWithPermit(bytes: Buffer, permit: Permit): Promise<Buffer | "too large"> {
  await permit.acquire();
  return await inflateLarge(bytes, bodyBytesMax);
}

function corrupt(mediaType: MediaType, cause: unknown): Refusal {
  return new Refusal(mediaType === "protobuf" ? "OTLP_PROTOBUF_INVALID" : "VALIDATION_ERROR", {
    message: "The gzip body is corrupt, truncated or followed by other bytes.",
    hint: "Compress the body once, or send it without Content-Encoding.",
    cause,
  });
}

function tooLarge(): Refusal {
  return new Refusal("PAYLOAD_TOO_LARGE", {
    hint: "Send smaller batches, such as 10 to 20 spans.",
  });
}

/** UNAVAILABLE, because the connection may be slow only for a moment: the client keeps the body and retries. */
function tooSlow(): Refusal {
  return new Refusal("UNAVAILABLE", {
    message: "The upload was too slow for a large body.",
    hint: "Retry, or send batches of up to 1 MB, which may be slow.",
  });
}
