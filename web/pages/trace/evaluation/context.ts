// What every part of the evaluation shares: the trace's spans by name, what is selected, and where its links lead.

import { createContext, useContext } from "react";
import type { TraceOutline } from "../../../../src/http/traces/schemas.ts";
import type { Select, Selection } from "../selection.ts";

export type Shared = {
  trace: TraceOutline;
  spanNames: Map<string, string>;
  /** Where several turns were judged together: the trace of each, from 1. */
  ofTurn?: (turn: number) => Pick<Shared, "trace" | "spanNames"> | undefined;
  selected: Selection | undefined;
  /** Undefined on another page than the trace's: what was looked at is then a link to it. */
  onSelect: Select | undefined;
  /** The passage that is marked in what was said, by its name; and marking another. Absent on other pages. */
  quoted?: string | undefined;
  onQuote?: (name: string) => void;
  /** Unfolds a check and goes there. */
  onShow: (testId: string, checkId: string) => void;
  /** Of the agent's pages. */
  params: { projectId: string; agentId: string };
};

export const TraceContext = createContext<Shared | null>(null);

export function useTrace(): Shared {
  const shared = useContext(TraceContext);
  if (!shared) throw new Error("Only within an evaluation.");
  return shared;
}
