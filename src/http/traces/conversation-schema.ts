// The documented shape of what was said in a trace.
import { z } from "zod";
import { Id } from "../validate.ts";

const path = z
  .array(z.union([z.string(), z.number()]))
  .describe("Keys and positions from the span inwards; JSON text on the way is read as the JSON it holds.");
const passage = {
  text: z.string().describe("Or its first part, where `length` is more."),
  length: z.number(),
  spanId: z.string(),
  paths: z.array(path).describe("Where it stands: the texts at these places, joined, are the whole."),
};
const place = {
  spanId: z.string(),
  attribute: z.string().nullable().describe("Null: it stood in the event of that name."),
  event: z.string().nullable(),
  agent: z.object({ spanId: z.string(), name: z.string() }).nullable().describe("A sub-agent's."),
};

const Message = z.object({
  ...place,
  kind: z.literal("message"),
  role: z.string(),
  pieces: z.array(
    z.discriminatedUnion("kind", [
      z.object({ kind: z.enum(["text", "reasoning"]), ...passage }),
      z.object({ kind: z.literal("media"), name: z.string().describe("It is never loaded.") }),
      z.object({ kind: z.literal("other"), name: z.string(), ...passage }),
    ]),
  ),
});

const ToolCall = z.object({
  ...place,
  kind: z.literal("tool_call"),
  name: z.string(),
  arguments: z.object(passage).nullable().describe("JSON text, or text that is no JSON."),
  result: z.object(passage).nullable(),
  error: z.string().nullable(),
  durationMs: z.number().nullable().describe("Null where no span shows the call itself."),
  failed: z.boolean(),
});

export const Conversation = z
  .object({
    traceId: Id,
    revision: z.number(),
    turns: z.array(z.discriminatedUnion("kind", [Message, ToolCall])),
    omitted: z
      .object({ after: z.number(), count: z.number() })
      .nullable()
      .describe("How many turns were left out, and after which number of them."),
    complete: z.boolean().describe("False where anything was left out, other than the rest of a cut text."),
  })
  .meta({ id: "Conversation" });
