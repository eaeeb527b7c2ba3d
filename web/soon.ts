// Doing once, a moment later, what is asked for many times over.
import { useEffect, useRef } from "react";

/** A function that has `run` called `afterMs` after it is called; calls until then are the same one. */
export function useSoon(run: () => void, afterMs: number): () => void {
  const latest = useRef(run);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    latest.current = run;
  });
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      timer.current = undefined;
    },
    [],
  );
  return () => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      latest.current();
    }, afterMs);
  };
}
