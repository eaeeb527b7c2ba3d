// The loads of the overload benchmark, one after the other: what each was answered, and what a healthy agent noticed.
import type { Figures, Given, Parts } from "./benchmark.ts";
import { hostileLoads, measureOverload, slowLoads } from "./overload.ts";
import { openStand } from "./stand.ts";

/** All hostile loads; with "slow", those for a slow PostgreSQL; with another word, those whose name contains it. */
export async function open(given: Given): Promise<Parts> {
  const word = given.args[0] ?? "";
  const stand = await openStand(given);
  let { databaseUrl } = stand;
  if (word === "slow") {
    // Through a proxy that lets 200 KB a second through: some hundred traces.
    const slow = new URL(databaseUrl);
    const proxy = stand.startProgram("./slow-postgres.ts", [slow.hostname, slow.port, "200000"]);
    slow.port = await proxy.nextLine();
    databaseUrl = slow.href;
  }
  const loads =
    word === "slow"
      ? slowLoads
      : Object.fromEntries(Object.entries(hostileLoads).filter(([name]) => name.includes(word)));
  const { service, url } = await stand.startService({ DATABASE_URL: databaseUrl });
  return Object.entries(loads).map(([load, run]) => async () => {
    const figures: Figures = {};
    const options = { loads: { [load]: run }, databaseUrl, url, pid: service.pid, seconds: given.seconds };
    for (const result of await measureOverload(options)) {
      for (const [status, count] of Object.entries(result.statuses))
        figures[`${load}: answers ${status}`] = count;
      const all = Object.values(result.healthy).reduce((sum, count) => sum + count, 0);
      figures[`${load}: healthy p99 ms`] = result.healthyP99Ms;
      figures[`${load}: healthy p99 to a bare server that commits`] = result.healthyP99Ms / result.floorP99Ms;
      figures[`${load}: healthy, share not stored`] = 1 - (result.healthy[201] ?? 0) / all;
      figures[`${load}: seconds until it is as before`] = result.recoveredMs / 1_000;
      figures[`${load}: peak MB`] = result.peakMb;
    }
    return figures;
  });
}
