// What conventions and redaction add to ingestion, each by itself and both together: the same traces for four agents, in turns.
import { allConventions } from "../src/model/conventions/conventions.ts";
import { median, print, row } from "./figures.ts";
import { makeProject } from "./project.ts";
import type { Stand } from "./stand.ts";
import type { Format } from "./traces.ts";

const agents = [
  { name: "neither", conventions: [], redacts: false },
  { name: "conventions", conventions: [allConventions], redacts: false },
  { name: "redaction", conventions: [], redacts: true },
  { name: "both", conventions: [allConventions], redacts: true },
];

export async function settings(
  stand: Stand,
  { rounds, traces }: { rounds: number; traces: number },
): Promise<void> {
  const keys = new Map<string, string>();
  for (const { name, conventions, redacts } of agents) {
    const made = await makeProject(stand.databaseUrl, { serviceName: name, tests: 0, conventions });
    if (redacts) await redactAll(stand, made.agentId);
    keys.set(name, made.apiKey);
  }
  // After the rules are set, since the service keeps what it has read of a key.
  const { service, url } = await stand.startService({ SVC_ROLES: "http" });
  print("\nConventions and redaction, all of each: CPU µs a trace of service and PostgreSQL, medians");
  print(row(["", "µs", "added", "ratio, median"]));
  for (const format of ["json", "protobuf"] as Format[]) {
    const costs = new Map(agents.map(({ name }) => [name, [] as number[]]));
    // The first is the warm-up. The order turns, so that nobody always comes after the same.
    for (let round = 0; round <= rounds; round++) {
      for (let at = 0; at < agents.length; at++) {
        const { name } = agents[(at + round) % agents.length]!;
        const amount = { connections: 32, traces, seconds: 0, warmUpSeconds: 0 };
        const input = { key: keys.get(name)!, format, serviceName: name, url: `${url}/public/traces` };
        const figures = await stand.drive({ ...input, ...amount }, service, "prepared");
        const cost = ((figures.service + figures.postgres) / figures.traces) * 1e6;
        if (round > 0) costs.get(name)!.push(cost);
      }
    }
    const base = costs.get("neither")!;
    for (const [name, some] of costs) {
      const ratios = some.map((cost, round) => cost / base[round]!);
      const added = some.map((cost, round) => cost - base[round]!);
      const figures = [median(some), median(added)].map(one => one.toFixed(0));
      print(row([`${name}, ${format}`, ...figures, median(ratios).toFixed(2)]));
    }
  }
  await service.stop();
}

async function redactAll({ database }: Stand, agentId: string): Promise<void> {
  const privacy = { builtIn: ["*"], rules: [], pseudonyms: [], judgeRules: [], judgeSeesToolResults: true };
  await database.query(
    "update projects set privacy = $2::jsonb, privacy_revision = 1 where id = (select project_id from agents where id = $1)",
    [agentId, JSON.stringify(privacy)],
  );
  await database.query("update agents set privacy_revision = 1 where id = $1", [agentId]);
}
