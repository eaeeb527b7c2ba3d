// Measures what one key at ten times its share costs the others: their times beside those with equal shares.

import type { FairnessInput, FairnessOutput } from "./fairness-driver.ts";
import { median } from "./figures.ts";
import { start } from "./processes.ts";
import { type BenchProject, makeProject } from "./project.ts";

const keyCount = 10;
const connections = 4;
const bodyBytes = 16_000;

export type FairnessOptions = { databaseUrl: string; url: string; seconds: number; rounds: number };

export type Fairness = {
  /** 99th percentile of the nine other keys in ms, by round. */
  equal: number[];
  greedy: number[];
  /** The median over the rounds of greedy to equal. */
  ratio: number;
  /** Requests of all keys, and of the greedy one, while it was greedy. */
  requests: number;
  greedyRequests: number;
  statuses: Record<string, number>;
};

/** Equal shares and greedy ones take turns, so that changes in the machine's speed affect both. */
export async function measureFairness({
  databaseUrl,
  url,
  seconds,
  rounds,
}: FairnessOptions): Promise<Fairness> {
  const projects: BenchProject[] = [];
  for (let at = 0; at < keyCount; at++) {
    projects.push(await makeProject(databaseUrl, { serviceName: `fair-${crypto.randomUUID()}`, tests: 0 }));
  }
  const drive = async (greed: number, forSeconds = seconds): Promise<FairnessOutput> => {
    const input: FairnessInput = {
      url: `${url}/public/traces`,
      seconds: forSeconds,
      bodyBytes,
      keys: projects.map(({ apiKey: key, agentId }, at) => ({
        key,
        agentId,
        connections: at === 0 ? connections * greed : connections,
      })),
    };
    const driver = start("./fairness-driver.ts", [JSON.stringify(input)]);
    const output = JSON.parse(await driver.nextLine()) as FairnessOutput;
    await driver.stop();
    return output;
  };
  await drive(1, 3);
  const found: Fairness = { equal: [], greedy: [], ratio: 0, requests: 0, greedyRequests: 0, statuses: {} };
  for (let round = 0; round < rounds; round++) {
    found.equal.push(worstOfOthers(await drive(1)));
    const greedy = await drive(10);
    found.greedy.push(worstOfOthers(greedy));
    found.greedyRequests += greedy.keys[0]!.requests;
    for (const { requests, statuses } of greedy.keys) {
      found.requests += requests;
      for (const [status, count] of Object.entries(statuses))
        found.statuses[status] = (found.statuses[status] ?? 0) + count;
    }
  }
  found.ratio = median(found.greedy.map((ms, round) => ms / found.equal[round]!));
  return found;
}

/** The median of their 99th percentiles. */
function worstOfOthers({ keys }: FairnessOutput): number {
  return median(keys.slice(1).map(({ p99Ms }) => p99Ms));
}
