// What conventions add to ingestion, by the attributes that traces have: an agent without and one with all, in turns.
import { allConventions } from "../src/model/conventions/conventions.ts";
import { median, print, row } from "./figures.ts";
import { makeProject } from "./project.ts";
import { shapes } from "./shapes.ts";
import type { Stand } from "./stand.ts";
import type { Format } from "./traces.ts";

export async function conventions(
  stand: Stand,
  { rounds, traces }: { rounds: number; traces: number },
): Promise<void> {
  const { service, url } = await stand.startService({ SVC_ROLES: "http" });
  const agents = [
    { serviceName: "none", chosen: [] },
    { serviceName: "all", chosen: [allConventions] },
  ];
  const keys = new Map<string, string>();
  for (const { serviceName, chosen } of agents) {
    const made = await makeProject(stand.databaseUrl, { serviceName, tests: 0, conventions: chosen });
    keys.set(serviceName, made.apiKey);
  }
  print("\nConventions of the agent, none and all: CPU µs a trace of service and PostgreSQL");
  print(row(["", "none", "all", "ratio"]));
  for (const shape of shapes) {
    for (const format of ["json", "protobuf"] as Format[]) {
      const costs = new Map(agents.map(({ serviceName }) => [serviceName, [] as number[]]));
      // The first is the warm-up.
      for (let round = 0; round <= rounds; round++) {
        for (const { serviceName } of agents) {
          const key = keys.get(serviceName)!;
          const amount = { connections: 32, traces, seconds: 0, warmUpSeconds: 0 };
          const input = { key, format, shape, serviceName, url: `${url}/public/traces`, ...amount };
          const figures = await stand.drive(input, service);
          const cost = ((figures.service + figures.postgres) / figures.traces) * 1e6;
          if (round > 0) costs.get(serviceName)!.push(cost);
        }
      }
      const [none, all] = [median(costs.get("none")!), median(costs.get("all")!)];
      print(row([`${shape}, ${format}`, none.toFixed(0), all.toFixed(0), (all / none).toFixed(2)]));
    }
  }
  await service.stop();
}
