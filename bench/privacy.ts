// What privacy settings add to ingestion: the same traces for projects without rules, with all built-in rules, and for an agent
// without content, in turns.
import type pg from "pg";
import { median } from "./figures.ts";
import { makeProject } from "./project.ts";
import type { Format } from "./traces.ts";

const settings = [
  { name: "no rule", builtIn: [], content: "keep" },
  { name: "no rule again", builtIn: [], content: "keep" },
  { name: "all rules", builtIn: ["*"], content: "keep" },
  { name: "no content", builtIn: [], content: "none" },
] as const;

export type PrivacyInput = {
  database: pg.Client;
  databaseUrl: string;
  rounds: number;
  /** CPU of service and PostgreSQL for a trace, in microseconds. */
  costOf(input: { key: string; serviceName: string; format: Format }): Promise<number>;
};

/** Makes the projects; call it before the service starts. Returns what measures them. */
export async function privacyCosts({ database, databaseUrl, rounds, costOf }: PrivacyInput) {
  const projects: { name: string; key: string; serviceName: string }[] = [];
  for (const { name, builtIn, content } of settings) {
    const serviceName = name.replaceAll(" ", "-");
    const { agentId, apiKey } = await makeProject(databaseUrl, { serviceName, tests: 0 });
    if (builtIn.length > 0) {
      const privacy = { builtIn, rules: [], pseudonyms: [], judgeRules: [], judgeSeesToolResults: true };
      await database.query(
        "update projects set privacy = $2::jsonb, privacy_revision = 1 where id = (select project_id from agents where id = $1)",
        [agentId, JSON.stringify(privacy)],
      );
      await database.query("update agents set privacy_revision = 1 where id = $1", [agentId]);
    }
    await database.query("update agents set content = $2 where id = $1", [agentId, content]);
    projects.push({ name, key: apiKey, serviceName });
  }
  return async (print: (line: string) => void): Promise<void> => {
    print(
      "\nPrivacy: CPU µs a trace of service and PostgreSQL, medians, and the median of the ratios of rounds",
    );
    for (const format of ["json", "protobuf"] as Format[]) {
      const costs = new Map(projects.map(({ name }) => [name, [] as number[]]));
      // The first is the warm-up. The order turns, so that nobody always comes after the same.
      for (let round = 0; round <= rounds; round++) {
        for (let at = 0; at < projects.length; at++) {
          const { name, key, serviceName } = projects[(at + round) % projects.length]!;
          const cost = await costOf({ key, serviceName, format });
          if (round > 0) costs.get(name)!.push(cost);
        }
      }
      const base = costs.get("no rule")!;
      for (const [name, some] of costs) {
        const ratios = some.map((cost, round) => cost / base[round]!);
        print(
          `${`${name}, ${format}`.padEnd(26)} ${median(some).toFixed(0).padStart(7)} ${median(ratios).toFixed(2).padStart(6)}   ${ratios.map(ratio => ratio.toFixed(2)).join(" ")}`,
        );
      }
    }
  };
}
