// Load generator that costs little: sends one prepared body over plain sockets, with new ids in place each time. Prints the
// results as the other driver does.
//
//   node bench/prepared-driver.ts '{"url":…,"key":…,"format":"json","serviceName":…,"connections":32,"seconds":8}'
import { randomInt } from "node:crypto";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { DriverInput, DriverOutput } from "./driver.ts";
import { spansPerTrace } from "./shapes.ts";
import { contentTypes, encode, newTraceId, spanMaker } from "./traces.ts";

/** The status of each answer of a connection, once its body has arrived. All bodies have a length. */
class Answers {
  #received: Buffer = Buffer.alloc(0);
  #waiting: { resolve: (status: number) => void; reject: (error: Error) => void } | undefined;

  constructor(socket: Socket) {
    socket.on("data", bytes => {
      this.#received = this.#received.length === 0 ? bytes : Buffer.concat([this.#received, bytes]);
      this.#read();
    });
    socket.on("error", error => this.#waiting?.reject(error));
    socket.on("close", () => this.#waiting?.reject(new Error("The server closed the connection.")));
  }

  next(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  #read(): void {
    const headLength = this.#received.indexOf("\r\n\r\n") + 4;
    if (headLength < 4) return;
    const head = this.#received.toString("latin1", 0, headLength);
    const length = headLength + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (this.#received.length < length) return;
    this.#received = this.#received.subarray(length);
    this.#waiting?.resolve(Number(head.slice(9, 12)));
  }
}

const input = JSON.parse(process.argv[2]!) as DriverInput;
const url = new URL(input.url);
const template = prepare();

const opened = performance.now();
const begin = opened + input.warmUpSeconds * 1000;
const end = input.traces === undefined ? begin + input.seconds * 1000 : Infinity;
let left = input.traces ?? Infinity;
const latencies: number[] = [];
let failed = 0;
let number = randomInt(2 ** 32);

await Promise.all(Array.from({ length: input.connections }, (_, number) => connection(number)));
const cpu = process.cpuUsage();
latencies.sort((a, b) => a - b);
const at = (quantile: number) => latencies[Math.floor(latencies.length * quantile)] ?? Number.NaN;
const output: DriverOutput = {
  traces: latencies.length,
  bytes: latencies.length * template.bodyLength,
  failed,
  seconds: input.seconds,
  cpuSeconds: cpu.user / 1e6 + cpu.system / 1e6,
  p50Ms: at(0.5),
  p99Ms: at(0.99),
};
process.stdout.write(`${JSON.stringify(output)}\n`);

/** A whole request, and where the ids of its trace are in it. A span id begins like the trace's. */
type Template = { request: Buffer; places: { at: number; bytes: number }[]; bodyLength: number };

function prepare(): Template {
  const traceId = newTraceId();
  const body = encode(input.format, spanMaker(input.serviceName, input.shape)(traceId, 0, spansPerTrace));
  const head = Buffer.from(
    [
      `POST ${url.pathname} HTTP/1.1`,
      `host: ${url.host}`,
      `x-api-key: ${input.key}`,
      `content-type: ${contentTypes[input.format]}`,
      `content-length: ${body.length}`,
      "\r\n",
    ].join("\r\n"),
  );
  const request = Buffer.concat([head, body]);
  // Span ids share the first four bytes of the trace's id, so these are what every id begins with.
  const bytes = input.format === "json" ? 8 : 4;
  const encoding = input.format === "json" ? "latin1" : "hex";
  const prefix = Buffer.from(traceId.slice(0, 8), encoding);
  const places: Template["places"] = [];
  for (let found = request.indexOf(prefix); found >= 0; found = request.indexOf(prefix, found + bytes)) {
    places.push({ at: found, bytes });
  }
  // The trace id and the span id of each span, and the parent's id of all but the root.
  if (places.length !== 3 * spansPerTrace - 1) throw new Error(`${places.length} ids in the prepared body`);
  return { request, places, bodyLength: body.length };
}

/** Makes the prepared request that of a new trace. Only the first four bytes of its ids differ from those of others. */
function renew(request: Buffer): void {
  // Multiplying by an odd number scatters the ids without repeating one.
  const id = Buffer.alloc(4);
  id.writeUInt32BE(Math.imul(number++, 2_654_435_761) >>> 0);
  const text = input.format === "json" ? Buffer.from(id.toString("hex"), "latin1") : id;
  for (const { at, bytes } of template.places) text.copy(request, at, 0, bytes);
}

/** When the connection is to send its next request; undefined: when the last one was answered. */
function slotOf(connection: number, sent: number): number | undefined {
  if (input.perSecond === undefined) return undefined;
  return opened + ((sent * input.connections + connection) / input.perSecond) * 1000;
}

async function connection(number: number): Promise<void> {
  const socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true });
  const answers = new Answers(socket);
  // One for all requests of the connection: new ones would make this process collect garbage beside the service.
  const request = Buffer.from(template.request);
  try {
    for (let sent = 0; ; sent++) {
      renew(request);
      const slot = slotOf(number, sent);
      const earlyMs = (slot ?? 0) - performance.now();
      if (earlyMs > 0) await sleep(earlyMs);
      // A request that is late because the one before was not answered yet has waited since its slot.
      const started = slot === undefined || earlyMs > 0 ? performance.now() : slot;
      if (started >= end || left-- <= 0) return;
      socket.write(request);
      const status = await answers.next();
      const ended = performance.now();
      if (started < begin || ended > end) continue;
      if (status !== 200) failed++;
      latencies.push(ended - started);
    }
  } finally {
    socket.destroy();
  }
}
