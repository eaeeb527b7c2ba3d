// The response schema of an agent's own rules.
import { z } from "zod";
import { type RuleTarget, ruleTargets } from "../model/conventions/rules.ts";

export const ShownRules = z.array(
  z.object({
    from: z.string(),
    to: z.enum(ruleTargets as [RuleTarget, ...RuleTarget[]]),
    spanName: z.string().optional(),
  }),
);
