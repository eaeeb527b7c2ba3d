// The response schema of what privacy rules redacted over time.
import { z } from "zod";
import { Time } from "../frame/schemas.ts";

const count = z.number().int().describe("Redacted places. A trace that is sent again counts again.");

export const RedactionInsights = z
  .object({
    from: Time,
    to: Time.describe("Exclusive."),
    interval: z.enum(["hour", "day"]),
    series: z
      .array(
        z.object({
          rule: z
            .string()
            .describe(
              "A built-in rule, one of the project, `pseudonym` for IDs, or `unchecked` for texts that took too long to check.",
            ),
          points: z.array(
            z.object({
              at: Time.describe("Start of the interval. Those without redactions are left out."),
              count,
            }),
          ),
          total: count,
        }),
      )
      .describe("The most frequent first."),
    total: count,
  })
  .meta({ id: "RedactionInsights" });
export type RedactionInsights = z.output<typeof RedactionInsights>;
