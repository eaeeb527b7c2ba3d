// One span.
import type { TraceOutline } from "../../shapes.ts";
import type { Select, Selection } from "./selection.ts";

export type SpanPanelProps = { trace: TraceOutline; selected: Selection; onSelect: Select };

export function SpanPanel({ selected }: SpanPanelProps) {
  return <p>{selected.span}</p>;
}
