// Measures the cost of a batch in a long trace: one trace of 500 batches against traces of 10, with 20 spans per batch.
import { Agent } from "node:http";
import { median } from "./figures.ts";
import { post } from "./post.ts";
import { contentTypes, encode, newTraceId, spanMaker } from "./traces.ts";

const longTrace = 500;
const shortTrace = 10;
const spansPerBatch = 20;

export async function batchCost(url: string, key: string, serviceName: string): Promise<string[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers = { "x-api-key": key, "content-type": contentTypes.protobuf };
  const make = spanMaker(serviceName);
  const send = async (traceId: string, batch: number): Promise<number> => {
    const body = encode("protobuf", make(traceId, batch * spansPerBatch, (batch + 1) * spansPerBatch));
    const started = performance.now();
    const status = await post(url, { agent, headers, body });
    if (status !== 200) throw new Error(`A batch was answered with ${status}.`);
    return performance.now() - started;
  };

  const short: number[] = [];
  const long: number[] = [];
  const longId = newTraceId();
  await send(newTraceId(), 0);
  // Alternates ten batches of the long trace with a short trace of ten.
  for (let batch = 0; batch < longTrace; batch += shortTrace) {
    const shortId = newTraceId();
    for (let at = 0; at < shortTrace; at++) long.push(await send(longId, batch + at));
    for (let at = 0; at < shortTrace; at++) short.push(await send(shortId, at));
  }
  agent.destroy();
  const lastHundred = long.slice(-100);
  return [
    `per batch, median ms: in traces of ${shortTrace} ${median(short).toFixed(2)}, in a trace of ${longTrace} ${median(long).toFixed(2)}, its last 100 ${median(lastHundred).toFixed(2)}`,
    `ratio of the trace of ${longTrace} to those of ${shortTrace}: ${(median(long) / median(short)).toFixed(2)}, its last 100: ${(median(lastHundred) / median(short)).toFixed(2)}`,
  ];
}
