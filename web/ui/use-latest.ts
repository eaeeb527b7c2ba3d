// A function that stays the same and calls the latest one given, for what is registered once.
import { useCallback, useEffect, useRef } from "react";

export function useLatest(run: (() => void) | undefined): () => void {
  const latest = useRef(run);
  useEffect(() => {
    latest.current = run;
  });
  return useCallback(() => latest.current?.(), []);
}
