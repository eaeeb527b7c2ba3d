// What the turns of a conversation share: the trace, the way to its spans, and the passage to be marked.

import { createContext, useContext } from "react";
import type { TraceOutline } from "../../../../src/http/traces/schemas.ts";
import type { Select } from "../selection.ts";

export const TurnsContext = createContext<{ trace: TraceOutline; onSelect: Select } | undefined>(undefined);

/** Within the turn that holds it: the text of the passage. */
export const QuotedContext = createContext<string | undefined>(undefined);

export function useTurns() {
  return useContext(TurnsContext)!;
}
