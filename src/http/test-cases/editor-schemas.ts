// The response schemas of the test editor: drafts, dry runs, scenario trials, completions.
import { z } from "zod";
import { restsOnWords } from "../../model/judge/call.ts";
import type { Applicability, Result } from "../../model/run/run.ts";
import type { AssertionDraft } from "../../model/test-case/assertion.ts";
import { typed } from "../frame/schemas.ts";
import { looseResult } from "../traces/result-schemas.ts";
import { applicability } from "../traces/run-schemas.ts";

export const DraftedAssertion = typed<AssertionDraft>()(
  z
    .looseObject({ type: z.string() })
    .describe("As in a test case, without an id.")
    .meta({ id: "DraftedAssertion" }),
);
export type DraftedAssertion = z.output<typeof DraftedAssertion>;

export const DryRun = z
  .object({
    traceId: z.string(),
    revision: z.number().describe("The revision of the trace that was evaluated."),
    result: typed<Omit<Result, "testId">>()(looseResult.omit({ testId: true })),
    applicability: typed<Pick<Applicability, "applied" | "why" | "reason" | "suspicious">>()(
      z.object(applicability),
    )
      .nullable()
      .describe("Whether the test would run on the trace if it were active; null unless requested."),
  })
  .meta({ id: "DryRun" });
export type DryRun = z.output<typeof DryRun>;

const TriedInput = z.object({
  traceId: z.string().describe("The latest trace with this input."),
  traces: z.number().describe("Traces with this input."),
  input: z.string().describe("Truncated to 500 characters."),
  label: z.enum(["match", "unsure", "no_match"]).nullable(),
  reason: z.string(),
  cached: z.boolean(),
  suspicious: z.string().optional().describe("Why the input looks as if it were addressed to the judge."),
});
export type TriedInput = z.output<typeof TriedInput>;

export const ScenarioTrial = z
  .object({
    traces: z.number().describe("The latest live traces that were looked at."),
    withoutInput: z.number().describe("Of these, traces without user input."),
    unread: z.number().describe("Of these, traces too large to read here."),
    inputs: z.number().describe("Distinct inputs, ignoring whitespace."),
    cached: z.number().describe("Of these, inputs with a known answer, which need no call."),
    calls: z.number().describe("Calls made; with `estimate`, calls needed."),
    inputTokens: z.number(),
    outputTokens: z.number(),
    costUsd: z.number().nullable().describe("Null if the price of the model is not known."),
    items: z.array(TriedInput),
    left: z.number().describe("Inputs not among the items. Repeat the request for more."),
    unavailable: z
      .object({ state: z.string(), reason: z.string() })
      .nullable()
      .describe("Why the judge is unavailable."),
  })
  .meta({ id: "ScenarioTrial" });
export type ScenarioTrial = z.output<typeof ScenarioTrial>;

export const KnownClasses = z
  .object({
    items: z.array(
      z.object({
        criterion: z.string(),
        restsOn: z
          .enum(restsOnWords)
          .nullable()
          .describe("What shows that the criterion is met, as the judge found it; null: it was not sure."),
      }),
    ),
  })
  .describe("Criteria that the judge was not asked about are missing.")
  .meta({ id: "KnownClasses" });
export type KnownClasses = z.output<typeof KnownClasses>;

const TraceInput = z
  .object({
    traceId: z.string(),
    input: z.string().nullable().describe("The whole user input; null if the trace has none."),
    unread: z.boolean().describe("The trace was not read: too large, or out of time. Ask for it alone."),
  })
  .meta({ id: "UserInputOfTrace" });
export type TraceInput = z.output<typeof TraceInput>;

/** In the order of the request, without traces that the agent does not have. */
export const TraceInputs = z.object({ items: z.array(TraceInput) }).meta({ id: "UserInputsOfTraces" });
export type TraceInputs = z.output<typeof TraceInputs>;

const Term = z.object({
  key: z.string(),
  samples: z.array(z.unknown()).describe("Up to three values, shortened."),
});
export type Term = z.output<typeof Term>;

export const Vocabulary = z
  .object({
    traces: z.number().describe("The latest traces that were read."),
    complete: z.boolean().describe("False if a limit on size or time left something out."),
    spans: z.array(z.object({ name: z.string(), count: z.number(), attributes: z.array(Term) })),
    tools: z.array(z.object({ name: z.string(), count: z.number(), arguments: z.array(Term) })),
  })
  .meta({ id: "Vocabulary" });
export type Vocabulary = z.output<typeof Vocabulary>;
