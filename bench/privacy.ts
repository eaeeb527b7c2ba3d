// What privacy settings add to ingestion: the same traces for projects without rules, with all built-in rules, and for an agent
// without content, in turns.
import { type BenchProject, openAccount, privacyOf } from "./account.ts";
import type { Figures, Given, Parts } from "./benchmark.ts";
import { costOf, openStand } from "./stand.ts";
import type { Format } from "./traces.ts";

/** The first is what the others are compared with. */
const settings = [
  { name: "no rule", builtIn: [], agent: {} },
  { name: "no rule again", builtIn: [], agent: {} },
  { name: "all rules", builtIn: ["*"], agent: {} },
  { name: "no content", builtIn: [], agent: { content: "none" } },
];

export async function open(given: Given): Promise<Parts> {
  const stand = await openStand(given);
  const { service, url } = await stand.startService();
  const account = await openAccount(stand.databaseUrl, url);
  const projects: (BenchProject & { name: string })[] = [];
  for (const { name, builtIn, agent } of settings) {
    const made = await account.project({ serviceName: name, agent });
    await account.send("PUT", `/api/projects/${made.projectId}/privacy`, privacyOf(builtIn));
    projects.push({ name, ...made });
  }
  const amount = { connections: 32, traces: Math.round(given.seconds * 1_000), seconds: 0, warmUpSeconds: 0 };
  const measure = (format: Format) => {
    let turn = 0;
    return async () => {
      const costs: Record<string, number> = {};
      turn++;
      // The order turns, so that nobody always comes after the same.
      for (let at = 0; at < projects.length; at++) {
        const { name, apiKey: key } = projects[(at + turn) % projects.length]!;
        const input = { key, format, serviceName: name, url: `${url}/public/traces` };
        costs[name] = costOf(await stand.drive({ ...input, ...amount }, service));
      }
      const figures: Figures = {};
      const [first, ...others] = settings.map(({ name }) => name) as [string, ...string[]];
      for (const name of [first, ...others]) figures[`${format}: ${name}, µs a trace`] = costs[name]!;
      for (const name of others) figures[`${format}: ${name} to ${first}`] = costs[name]! / costs[first]!;
      return figures;
    };
  };
  return [measure("json"), measure("protobuf")];
}
