// What a transcript is made of: a message or a call of a tool, where it stands, and who said it.
import type { ReadPiece, SpanPath } from "../trace/message-parts.ts";
import type { Source } from "../trace/span-messages.ts";

/** A value, and the places of its parts in a span. */
export type Placed = { value: unknown; spanId: string; paths: SpanPath[] };

/** A sub-agent: one that another agent called. */
export type SubAgent = { spanId: string; name: string };

export type Entry = Source & {
  /** Whose conversation it is part of; null: that of the trace itself. */
  agent: SubAgent | null;
} & ({ kind: "message"; role: string; pieces: ReadPiece[] } | ({ kind: "tool_call" } & ToolEntry));

type ToolEntry = {
  name: string;
  arguments: Placed | null;
  result: Placed | null;
  /** What its span said of how it went wrong. */
  error: string | null;
  /** Null where no span shows the call itself. */
  durationMs: number | null;
  failed: boolean;
};
