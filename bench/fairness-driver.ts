// Load generator with several keys: each keeps a number of requests open. Prints the times of each key as one line of JSON.
//
//   node bench/fairness-driver.ts '{"url":…,"keys":[{"key":…,"agentId":…,"connections":4}],"seconds":8}'
import { Agent } from "node:http";
import { post } from "./post.ts";

export type FairnessInput = {
  url: string;
  keys: { key: string; agentId: string; connections: number }[];
  seconds: number;
  /** Of a body, in bytes. */
  bodyBytes: number;
};

/** Of each key, in the order of the input. `statuses`: how often each was answered. */
export type FairnessOutput = {
  keys: { requests: number; p50Ms: number; p99Ms: number; statuses: Record<string, number> }[];
};

const { url, keys, seconds, bodyBytes }: FairnessInput = JSON.parse(process.argv[2]!);
const agent = new Agent({ keepAlive: true });
const until = performance.now() + seconds * 1_000;
const output: FairnessOutput = { keys: await Promise.all(keys.map(load)) };
process.stdout.write(`${JSON.stringify(output)}\n`);
agent.destroy();

/** Without an x-request-id, each request is a new trace. */
async function load({ key, agentId, connections }: FairnessInput["keys"][number]) {
  const attributes = { "gen_ai.prompt": "x".repeat(Math.floor(bodyBytes / 10)) };
  const spans = Array.from({ length: 10 }, (_, at) => ({
    span_id: `${at}`,
    parent_span_id: at === 0 ? null : "0",
    name: `step ${at}`,
    attributes,
  }));
  const body = Buffer.from(JSON.stringify({ platformId: agentId, spans }));
  const headers = { "x-api-key": key, "content-type": "application/json" };
  const times: number[] = [];
  const statuses: Record<string, number> = {};
  const work = async () => {
    while (performance.now() < until) {
      const started = performance.now();
      const status = await post(url, { agent, headers, body }).catch(() => 0);
      times.push(performance.now() - started);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(times.length * share)] ?? 0;
  return { requests: times.length, p50Ms: at(0.5), p99Ms: at(0.99), statuses };
}
