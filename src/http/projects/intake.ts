// How requests say what is stored of an agent's traces.
import { z } from "zod";
import { forgetSeconds } from "../../model/content.ts";
import { ifThen } from "../../model/if-then.ts";
import { ExactText } from "../frame/schemas.ts";

const keysMax = 100;
const aMinuteToAYear = "Must be between a minute and a year: 60 to 31,536,000 seconds.";

const Key = ExactText(200)
  .refine(key => !key.slice(0, -1).includes("*"), { error: "`*` is allowed only at the end: `app.*`." })
  .meta({ pattern: "^[^\\x00*]*\\*?$" });

const Keys = z
  .array(Key)
  .max(keysMax)
  .transform(keys => [...new Set(keys)]);

export const intakeFields = {
  content: z.enum(["keep", "none", "forget"]).optional(),
  contentForgetAfterSeconds: z
    .int()
    .min(forgetSeconds.min, aMinuteToAYear)
    .max(forgetSeconds.max, aMinuteToAYear)
    .nullable()
    .optional()
    .describe(
      "For `forget`, which needs it unless it was set before; null or absent for the others. A trace is forgotten by the shortest time under which something of it arrived, also if the setting changes later.",
    ),
  attributes: z
    .strictObject({ deny: Keys.default([]), allow: Keys.nullable().default(null) })
    .optional()
    .describe(
      "Keys of attributes, at most 100 each; one that ends in `*` stands for all that begin like it. `deny` goes before `allow`; `allow` null: all that are not denied. Both hold for attributes of spans, events, links, resources, scopes and log records, and for the first keys of `metadata`; `service.name` is always stored.",
    ),
};

const contentIs = (...settings: string[]) => ({
  properties: { content: { enum: settings } },
  required: ["content"],
});
const timeIs = (type: "integer" | "null") => ({ properties: { contentForgetAfterSeconds: { type } } });

/** As JSON Schema, what else holds for these fields in a new agent. */
export const newIntake = ifThen(
  contentIs("forget"),
  { ...timeIs("integer"), required: ["contentForgetAfterSeconds"] },
  timeIs("null"),
);

/** The same in a change, where a time may have been set before. */
export const changedIntake = {
  allOf: [ifThen(contentIs("forget"), timeIs("integer")), ifThen(contentIs("keep", "none"), timeIs("null"))],
};
