// Drives one address from a process of its own and prints what it measured as one line of JSON.
//
//   node bench/driver.ts '{"url":…,"key":…,"format":"json","serviceName":…,"connections":32,"seconds":8}'
import { Agent, request } from "undici";
import { bodyMaker, type Format } from "./bodies.ts";

export type DriverInput = {
  url: string;
  key: string;
  format: Format;
  serviceName: string;
  connections: number;
  seconds: number;
  /** Not counted: connections are opened, code is compiled. */
  warmUpSeconds: number;
};

export type DriverOutput = {
  traces: number;
  bytes: number;
  /** Requests answered with anything but 200. */
  refused: number;
  seconds: number;
  /** Of this process, from its start. */
  cpuSeconds: number;
  p50Ms: number;
  p99Ms: number;
};

const input = JSON.parse(process.argv[2]!) as DriverInput;
const agent = new Agent({ connections: input.connections, pipelining: 1 });
const make = bodyMaker(input.format, input.serviceName);
const headers = {
  "x-api-key": input.key,
  "content-type": input.format === "json" ? "application/json" : "application/x-protobuf",
};

const begin = performance.now() + input.warmUpSeconds * 1000;
const end = begin + input.seconds * 1000;
const latencies: number[] = [];
let bytes = 0;
let refused = 0;

async function connection(): Promise<void> {
  for (;;) {
    const body = make();
    const started = performance.now();
    if (started >= end) return;
    const answer = await request(input.url, { method: "POST", headers, body, dispatcher: agent });
    await answer.body.dump();
    const ended = performance.now();
    if (started < begin || ended > end) continue;
    if (answer.statusCode !== 200) refused++;
    latencies.push(ended - started);
    bytes += body.length;
  }
}

await Promise.all(Array.from({ length: input.connections }, connection));
latencies.sort((a, b) => a - b);
const at = (quantile: number) => latencies[Math.floor(latencies.length * quantile)] ?? Number.NaN;
const cpu = process.cpuUsage();
const output: DriverOutput = {
  traces: latencies.length,
  bytes,
  refused,
  seconds: input.seconds,
  cpuSeconds: cpu.user / 1e6 + cpu.system / 1e6,
  p50Ms: at(0.5),
  p99Ms: at(0.99),
};
process.stdout.write(`${JSON.stringify(output)}\n`);
await agent.close();
