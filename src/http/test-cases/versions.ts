// /api/tests/:id/versions: results of a test on live traffic by its version.
import { z } from "zod";
import { listTestVersions } from "../../store/runs/insights.ts";
import type { App, Deps } from "../frame/deps.ts";
import { routesOf } from "../frame/route.ts";
import { tallyView } from "../tally.ts";
import { TestVersion } from "./backtest-schemas.ts";

const versionsMax = 100;

export function registerVersions(app: App, { db }: Deps): void {
  const route = routesOf(app, "tests");
  route("GET /api/tests/:id/versions", {
    access: "tokens",
    summary: "Count the results of a test on live traffic by its version, newest first",
    answer: z.object({ items: z.array(TestVersion) }),
    handler: async ({ id }) => {
      const versions = await listTestVersions(db, id, versionsMax);
      return {
        items: versions.map(({ version, firstRunAt, lastRunAt, ...counts }) => ({
          version,
          ...tallyView(counts),
          firstRunAt,
          lastRunAt,
        })),
      };
    },
  });
}
