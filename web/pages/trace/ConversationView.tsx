// What was said.
import type { TraceOutline } from "../../shapes.ts";
import type { Select } from "./selection.ts";

export type ConversationViewProps = { trace: TraceOutline; onSelect: Select };

export function ConversationView({ trace }: ConversationViewProps) {
  return <p>{trace.name}</p>;
}
