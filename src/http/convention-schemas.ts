// The response schema of an agent's own rules.

import { z } from "zod";
import { ruleTargets } from "../model/agent/read-by.ts";

export const ShownRules = z.array(
  z.object({
    from: z.string(),
    to: z.enum(ruleTargets),
    spanName: z.string().optional(),
  }),
);
