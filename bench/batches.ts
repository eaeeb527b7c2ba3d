// What a batch costs when its trace is long: one trace of 500 batches beside traces of 10, 20 spans each.
import { randomBytes } from "node:crypto";
import { Agent, request } from "undici";
import { exportRequest, makeSpan } from "./bodies.ts";
import { encodeRequest } from "./protobuf.ts";

const longTrace = 500;
const shortTrace = 10;
const spansPerBatch = 20;

export async function batchCost(url: string, key: string, serviceName: string): Promise<string[]> {
  const agent = new Agent({ connections: 1 });
  const headers = { "x-api-key": key, "content-type": "application/x-protobuf" };
  const send = async (traceId: string, batch: number): Promise<number> => {
    const spans = Array.from({ length: spansPerBatch }, (_, index) => {
      const number = batch * spansPerBatch + index;
      return makeSpan(number, number === 0 ? undefined : "0000000000000001");
    });
    const body = encodeRequest(exportRequest(serviceName, traceId, spans));
    const started = performance.now();
    const answer = await request(url, { method: "POST", headers, body, dispatcher: agent });
    await answer.body.dump();
    if (answer.statusCode !== 200) throw new Error(`a batch was answered with ${answer.statusCode}`);
    return performance.now() - started;
  };

  const short: number[] = [];
  const long: number[] = [];
  const longId = randomBytes(16).toString("hex");
  await send(randomBytes(16).toString("hex"), 0);
  // In turn: ten batches of the long trace, then a short trace of ten.
  for (let batch = 0; batch < longTrace; batch += shortTrace) {
    const shortId = randomBytes(16).toString("hex");
    for (let at = 0; at < shortTrace; at++) long.push(await send(longId, batch + at));
    for (let at = 0; at < shortTrace; at++) short.push(await send(shortId, at));
  }
  await agent.close();
  const lastHundred = long.slice(-100);
  return [
    `per batch, median ms: in traces of ${shortTrace} ${median(short).toFixed(2)}, in a trace of ${longTrace} ${median(long).toFixed(2)}, its last 100 ${median(lastHundred).toFixed(2)}`,
    `ratio of the trace of ${longTrace} to those of ${shortTrace}: ${(median(long) / median(short)).toFixed(2)}, its last 100: ${(median(lastHundred) / median(short)).toFixed(2)}`,
  ];
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
