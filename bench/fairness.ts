// Measures what one key at ten times its share costs the others: their times beside those with equal shares; and what costly
// requests of a tenant cost another.
import { type BenchProject, openAccount } from "./account.ts";
import { openAttacks } from "./attacks.ts";
import type { Given, Parts } from "./benchmark.ts";
import type { FairnessInput, FairnessOutput } from "./fairness-driver.ts";
import { median } from "./figures.ts";
import { peakMb, start } from "./processes.ts";
import { openStand } from "./stand.ts";

const keyCount = 10;
const connections = 4;
const bodyBytes = 16_000;

/** With "keys", the first alone; with "attacks", the others, and with more words, those whose name contains them. */
export async function open(given: Given): Promise<Parts> {
  const [which, ...words] = given.args;
  const keys = which === "attacks" ? [] : await openKeys(given);
  return which === "keys" ? keys : [...keys, ...(await openAttacks(given, words.join(" ")))];
}

async function openKeys(given: Given): Promise<Parts> {
  const stand = await openStand(given);
  const { service, url } = await stand.startService();
  const account = await openAccount(stand.databaseUrl, url);
  const projects: BenchProject[] = [];
  for (let at = 0; at < keyCount; at++) projects.push(await account.project({ serviceName: `fair-${at}` }));
  /** With four requests open for each key, and so many times as many for the first. */
  const drive = async (greed: number): Promise<FairnessOutput["keys"]> => {
    const keys = projects.map(({ apiKey: key, agentId }, at) => ({
      ...{ key, agentId, connections: at === 0 ? connections * greed : connections },
    }));
    const input: FairnessInput = { url: `${url}/public/traces`, seconds: given.seconds, bodyBytes, keys };
    const driver = start("./fairness-driver.ts", [JSON.stringify(input)]);
    const output = JSON.parse(await driver.nextLine()) as FairnessOutput;
    await driver.stop();
    return output.keys;
  };
  const measure = async () => {
    const equal = p99OfOthers(await drive(1));
    const keys = await drive(10);
    const greedy = p99OfOthers(keys);
    const all = keys.reduce((sum, { requests }) => sum + requests, 0);
    const fine = keys.reduce((sum, { statuses }) => sum + (statuses["201"] ?? 0), 0);
    return {
      "p99 ms of nine keys beside an equal one": equal,
      "p99 ms of nine keys beside a greedy one": greedy,
      "greedy to equal": greedy / equal,
      "share of the greedy key's requests": keys[0]!.requests / all,
      "share of answers other than 201": 1 - fine / all,
      "peak MB of the service": peakMb(service.pid),
    };
  };
  return [measure];
}

/** The median of their 99th percentiles. */
function p99OfOthers(keys: FairnessOutput["keys"]): number {
  return median(keys.slice(1).map(({ p99Ms }) => p99Ms));
}
