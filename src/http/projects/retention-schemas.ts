// The response schema of a project's retention time.
import { z } from "zod";

/** Ten years. */
export const retentionDaysMax = 3650;

export const Retention = z
  .object({
    days: z
      .number()
      .int()
      .nullable()
      .describe("Of the project; null: its traces are kept until somebody deletes them."),
    serverDays: z
      .number()
      .int()
      .nullable()
      .describe("Of the server, for all projects; the shorter time counts. Null: none."),
  })
  .meta({ id: "Retention" });
export type Retention = z.output<typeof Retention>;
