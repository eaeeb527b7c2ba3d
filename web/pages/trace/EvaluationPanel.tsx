// What the tests said.
import type { TraceOutline } from "../../shapes.ts";
import type { Select, Selection } from "./selection.ts";

export type EvaluationPanelProps = {
  trace: TraceOutline;
  /** The run shown; undefined: the latest completed one, else the latest. */
  runId: string | undefined;
  /** The test that is unfolded and scrolled to at first. */
  testId: string | undefined;
  selected: Selection | undefined;
  onSelect: Select;
};

export function EvaluationPanel({ trace }: EvaluationPanelProps) {
  return <p>{trace.runs.length}</p>;
}
