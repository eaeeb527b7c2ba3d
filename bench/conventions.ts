// What conventions add to ingestion, by the attributes that traces have: an agent without and one with all, in turns.
import { openAccount } from "./account.ts";
import type { Given, Parts } from "./benchmark.ts";
import { type Shape, shapes } from "./shapes.ts";
import { costOf, openStand } from "./stand.ts";
import type { Format } from "./traces.ts";

export async function open(given: Given): Promise<Parts> {
  const stand = await openStand(given);
  const { service, url } = await stand.startService();
  const account = await openAccount(stand.databaseUrl, url);
  const none = await account.project({ serviceName: "none", agent: { conventions: [] } });
  const all = await account.project({ serviceName: "all", agent: { conventions: ["*"] } });
  const amount = { connections: 32, traces: Math.round(given.seconds * 500), seconds: 0, warmUpSeconds: 0 };
  const measure = (shape: Shape, format: Format) => async () => {
    const cost = async (key: string, serviceName: string) => {
      const to = { key, format, shape, serviceName, url: `${url}/public/traces` };
      return costOf(await stand.drive({ ...to, ...amount }, service));
    };
    const [without, withAll] = [await cost(none.apiKey, "none"), await cost(all.apiKey, "all")];
    return {
      [`${shape}, ${format}: none, µs a trace`]: without,
      [`${shape}, ${format}: all, µs a trace`]: withAll,
      [`${shape}, ${format}: all to none`]: withAll / without,
    };
  };
  return shapes.flatMap(shape => [measure(shape, "json"), measure(shape, "protobuf")]);
}
