// /api/tests/:id/versions: results of a test on live traffic by its version.
import { z } from "zod";
import { listTestVersions } from "../../store/runs/insights.ts";
import type { App, Deps } from "../deps.ts";
import { tallyView } from "../tally.ts";
import { TestVersion } from "./backtest-schemas.ts";

const versionsMax = 100;

export function registerVersions(app: App, { db }: Deps): void {
  app.get(
    "/api/tests/:id/versions",
    {
      schema: {
        tags: ["tests"],
        summary: "Count the results of a test on live traffic by its version, newest first",
        params: z.object({ id: z.string() }),
        response: { 200: z.object({ items: z.array(TestVersion) }) },
      },
    },
    async ({ params: { id } }) => {
      const versions = await listTestVersions(db, id, versionsMax);
      return {
        items: versions.map(({ version, firstRunAt, lastRunAt, ...counts }) => ({
          version,
          ...tallyView(counts),
          firstRunAt: firstRunAt.toISOString(),
          lastRunAt: lastRunAt.toISOString(),
        })),
      };
    },
  );
}
