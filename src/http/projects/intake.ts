// How requests say what is stored of an agent's traces.
import { z } from "zod";
import { ExactText } from "../schemas.ts";

const keysMax = 100;

const Key = ExactText(200)
  .refine(key => !key.slice(0, -1).includes("*"), { error: "`*` is allowed only at the end: `app.*`." })
  .meta({ pattern: "^[^\\x00*]*\\*?$" });

const Keys = z
  .array(Key)
  .max(keysMax)
  .transform(keys => [...new Set(keys)]);

export const intakeFields = {
  content: z.enum(["keep", "none"]).optional(),
  attributes: z
    .strictObject({ deny: Keys.default([]), allow: Keys.nullable().default(null) })
    .optional()
    .describe(
      "Keys of attributes, at most 100 each; one that ends in `*` stands for all that begin like it. `deny` goes before `allow`; `allow` null: all that are not denied. Both hold for attributes of spans, events, links, resources, scopes and log records, and for the first keys of `metadata`; `service.name` is always stored.",
    ),
};
