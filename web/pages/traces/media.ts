// Whether the window is too narrow for a table.
import { useSyncExternalStore } from "react";

const narrow = matchMedia("(max-width: 767px)");

function subscribe(listener: () => void): () => void {
  narrow.addEventListener("change", listener);
  return () => narrow.removeEventListener("change", listener);
}

export function useNarrow(): boolean {
  return useSyncExternalStore(subscribe, () => narrow.matches);
}
