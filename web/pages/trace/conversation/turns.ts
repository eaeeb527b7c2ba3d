// Context for the turns of a conversation: the trace, the selection of spans, and the passage to mark.
import { createContext, useContext } from "react";
import type { TraceOutline } from "../../../../src/http/traces/schemas.ts";
import type { Select } from "../selection.ts";

export const TurnsContext = createContext<{ trace: TraceOutline; onSelect: Select } | undefined>(undefined);

/** The text of the quoted passage, inside the turn that has it. */
export const QuotedContext = createContext<string | undefined>(undefined);

export function useTurns() {
  return useContext(TurnsContext)!;
}
