// The response schema of a conversation: the messages and tool calls of a trace.

import { z } from "zod";
import type { ShownConversation } from "../../model/trace/shown.ts";
import { Id, typed } from "../frame/schemas.ts";
import { translated } from "./result-schemas.ts";

const path = z
  .array(z.union([z.string(), z.number()]))
  .describe(
    "Keys and indexes, starting at the span as the agent's conventions read it (`read` of the span); JSON text along the path is parsed.",
  );
const passage = {
  text: z.string().describe("Truncated if shorter than `length`."),
  length: z.number(),
  spanId: z.string(),
  paths: z.array(path).describe("Where the text is stored: its parts, in order."),
};
const place = {
  spanId: z.string(),
  attribute: z.string().nullable().describe("Null: the text is in the event named by `event`."),
  event: z.string().nullable(),
  agent: z.object({ spanId: z.string(), name: z.string() }).nullable().describe("The sub-agent, if any."),
  translated: translated.nullable().describe("Set where a convention was read."),
};

const Message = z.object({
  ...place,
  kind: z.literal("message"),
  role: z.string(),
  pieces: z.array(
    z.discriminatedUnion("kind", [
      z.object({ kind: z.enum(["text", "refusal", "reasoning"]), ...passage }),
      z.object({ kind: z.literal("media"), name: z.string().describe("Media is never loaded.") }),
      z.object({ kind: z.literal("other"), name: z.string(), ...passage }),
    ]),
  ),
});

const ToolCall = z.object({
  ...place,
  kind: z.literal("tool_call"),
  name: z.string(),
  arguments: z.object(passage).nullable().describe("JSON text, or plain text."),
  result: z.object(passage).nullable(),
  error: z.string().nullable(),
  durationMs: z.number().nullable().describe("Null if the call has no span."),
  failed: z.boolean(),
});

export const Conversation = typed<ShownConversation & { traceId: string; revision: number }>()(
  z
    .object({
      traceId: Id,
      revision: z.number(),
      turns: z.array(z.discriminatedUnion("kind", [Message, ToolCall])),
      omitted: z
        .object({ after: z.number(), count: z.number() })
        .nullable()
        .describe("How many turns were left out, and after which index."),
      complete: z
        .boolean()
        .describe("False if anything was left out other than the rest of a truncated text."),
    })
    .meta({ id: "Conversation" }),
);
export type Conversation = z.output<typeof Conversation>;
