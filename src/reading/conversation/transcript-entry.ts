// Entries of a transcript: a message or a tool call, its source in the spans, and the agent it belongs to.
import type { SpanPath, SubAgent } from "../../model/trace/shown.ts";
import type { ReadPiece } from "../span/message-parts.ts";
import type { Source } from "../span/span-messages.ts";

/** A value, and the paths of its parts in a span. */
export type SourcedValue = { value: unknown; spanId: string; paths: SpanPath[] };

/** As JSON, unless it is a text. */
export function sourcedText({ value }: SourcedValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

export type Entry = Source & {
  /** The sub-agent whose conversation it belongs to; null: the main conversation of the trace. */
  agent: SubAgent | null;
} & ({ kind: "message"; role: string; pieces: ReadPiece[] } | ({ kind: "tool_call" } & ToolEntry));

type ToolEntry = {
  name: string;
  arguments: SourcedValue | null;
  result: SourcedValue | null;
  /** The status message of its failed span. */
  error: string | null;
  /** Null if the call has no span of its own. */
  durationMs: number | null;
  failed: boolean;
};
