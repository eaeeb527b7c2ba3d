// The response schemas of conversations: traces of an agent with the same conversation id.
import { z } from "zod";
import { Id, pageSchema, Time } from "../frame/schemas.ts";
import { Outcome } from "./result-schemas.ts";
import { ListedTrace, longIds } from "./schemas.ts";

export const ConversationSummary = z
  .object({
    conversationId: z.string().describe(longIds),
    agentId: Id,
    kind: z.enum(["live", "test_run"]).describe("That of the last turn."),
    traces: z.object({
      count: z.number().int(),
      more: z.boolean().describe("Whether there are more than were counted."),
    }),
    firstAt: Time.describe("When the first turn began."),
    lastAt: Time.describe("When the last turn began."),
    firstTraceId: Id,
    lastTraceId: Id,
    userInput: z.string().nullable().describe("Of the first turn, shortened."),
    responseText: z.string().nullable().describe("Of the last turn, shortened."),
    userId: z.string().nullable().describe(longIds),
    redacted: z
      .array(z.string())
      .describe("Privacy rules that redacted something in the turn that the IDs are from."),
    verdict: Outcome.nullable().describe(
      "The worst of the last 100 turns: failed, missing, skipped, passed.",
    ),
    verdicts: z
      .object({
        passed: z.number().int(),
        failed: z.number().int(),
        skipped: z.number().int(),
        missing_instrumentation: z.number().int(),
        none: z.number().int().describe("Not evaluated, or no test applied."),
      })
      .describe("Of the last 100 turns."),
    notFullyEvaluated: z
      .number()
      .int()
      .describe("How many of these verdicts are of evaluations that are not fully evaluated."),
  })
  .meta({ id: "ConversationSummary" });
export type ConversationSummary = z.output<typeof ConversationSummary>;

export const ConversationPage = pageSchema(ConversationSummary);
export type ConversationPage = z.output<typeof ConversationPage>;

export const ConversationTurn = ListedTrace.extend({
  number: z.number().int().nullable().describe("From 1. Null beyond 10,000."),
  startedAt: Time.describe("When the trace began, or arrived if it has no times."),
  hasContent: z.boolean().describe("Whether its content is stored: false if it never was, or was dropped."),
  userInput: z.string().nullable().describe("At most 8,000 characters."),
  responseText: z.string().nullable().describe("At most 8,000 characters."),
  shortened: z.boolean().describe("Whether a text is longer than what is given of it."),
  toolCalls: z
    .array(z.object({ spanId: z.string(), name: z.string(), failed: z.boolean() }))
    .describe("The first 20."),
  toolCallCount: z.number().int().nullable().describe("Null if the trace is too large to be read here."),
}).meta({ id: "ConversationTurn" });
export type ConversationTurn = z.output<typeof ConversationTurn>;

export const ConversationTurns = z
  .object({
    conversation: ConversationSummary,
    items: z.array(ConversationTurn).describe("In the order in which the turns began."),
    previousCursor: z.string().nullable().describe("For the turns before these."),
    nextCursor: z.string().nullable().describe("For the turns after these."),
  })
  .meta({ id: "ConversationTurns" });
export type ConversationTurns = z.output<typeof ConversationTurns>;

export const TurnOfTrace = z
  .object({
    turn: z
      .object({
        conversationId: z.string().describe(longIds),
        number: z.number().int().nullable().describe("From 1. Null beyond 10,000."),
        traces: ConversationSummary.shape.traces,
        previousTraceId: Id.nullable(),
        nextTraceId: Id.nullable(),
      })
      .nullable()
      .describe("Null if the trace has no conversation id."),
  })
  .meta({ id: "TurnOfTrace" });
export type TurnOfTrace = z.output<typeof TurnOfTrace>;
