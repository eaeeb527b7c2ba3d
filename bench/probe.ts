// Sends a small trace every 50 ms, as a healthy agent would, until SIGTERM. Prints when each began, in ms since 1970, how
// long it took, and its status, as one line of JSON.
//
//   node bench/probe.ts '{"url":…,"key":…,"agentId":…}'
import { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { post } from "./post.ts";

export type Probed = [at: number, ms: number, status: number];

const { url, key, agentId } = JSON.parse(process.argv[2]!) as { url: string; key: string; agentId: string };
const agent = new Agent({ keepAlive: true });
const spans = [{ span_id: "1", name: "answer", attributes: { "gen_ai.prompt": "x".repeat(2_000) } }];
const body = Buffer.from(JSON.stringify({ platformId: agentId, spans }));
const headers = { "x-api-key": key, "content-type": "application/json" };
const probed: Probed[] = [];
const open = new Set<Promise<void>>();
let stopped = false;
process.on("SIGTERM", () => {
  stopped = true;
});
process.stdout.write("ready\n");
while (!stopped) {
  const sent = probe().finally(() => open.delete(sent));
  open.add(sent);
  await sleep(50);
}
await Promise.all(open);
process.stdout.write(`${JSON.stringify(probed)}\n`, () => process.exit(0));

async function probe(): Promise<void> {
  const at = Date.now();
  const started = performance.now();
  const status = await post(url, { agent, headers, body }).catch(() => 0);
  probed.push([at, performance.now() - started, status]);
}
