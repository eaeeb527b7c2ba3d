// React context of the evaluation: the trace, its span names, the selection, and link parameters.

import { createContext, useContext } from "react";
import type { Label } from "../../../../src/http/judge/label-schemas.ts";
import type { ResultStateView, TraceOutline } from "../../../../src/http/traces/schemas.ts";
import type { Select, Selection } from "../selection.ts";

export type Shared = {
  trace: TraceOutline;
  spanNames: Map<string, string>;
  /** In a conversation of several turns: the trace of each, from 1. */
  ofTurn?: (turn: number) => Pick<Shared, "trace" | "spanNames"> | undefined;
  selected: Selection | undefined;
  /** Undefined outside the trace page, where evidence links to that page. */
  onSelect: Select | undefined;
  /** The passage that is highlighted in the conversation, and the way to highlight another. Absent on other pages. */
  quoted?: string | undefined;
  onQuote?: (name: string) => void;
  /** Expands a check and scrolls to it. */
  onShow: (testId: string, checkId: string) => void;
  /** The run whose checks can be labeled, with its labels; absent where none can be. */
  labeling?: { runId: string; labels: Label[] } | undefined;
  /** Where failed results stand, on the run whose verdict is the trace's; absent elsewhere. */
  states?: ResultStateView[] | undefined;
  /** Route parameters of the agent's pages. */
  params: { projectId: string; agentId: string };
};

export const TraceContext = createContext<Shared | null>(null);

export function useTrace(): Shared {
  const shared = useContext(TraceContext);
  if (!shared) throw new Error("Only within an evaluation.");
  return shared;
}
