// What the turns of a conversation share: the trace, and the way to its spans.
import { createContext, useContext } from "react";
import type { TraceOutline } from "../../../shapes.ts";
import type { Select } from "../selection.ts";

export const TurnsContext = createContext<{ trace: TraceOutline; onSelect: Select } | undefined>(undefined);

export function useTurns() {
  return useContext(TurnsContext)!;
}
