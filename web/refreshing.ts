// Throttles refetching on events: immediately or after a delay, then at most once every two seconds.
import { useCallback, useEffect, useRef } from "react";

const restMs = 2_000;

/**
 * Returns a function that runs `read` after `afterMs`, and not within `restMs` of the previous run. Calls in the meantime
 * lead to one more run.
 */
export function useRefresh(read: () => Promise<unknown>, afterMs = 0): () => void {
  const latest = useRef(read);
  useEffect(() => {
    latest.current = read;
  });
  const state = useRef({ isBusy: false, isQueued: false, isUnmounted: false });
  useEffect(() => {
    const { current } = state;
    current.isUnmounted = false;
    return () => {
      current.isUnmounted = true;
    };
  }, []);
  return useCallback(() => {
    const { current } = state;
    const begin = async () => {
      current.isBusy = true;
      if (afterMs > 0) await after(afterMs);
      current.isBusy = !current.isUnmounted;
      if (current.isUnmounted) return;
      current.isQueued = false;
      await latest.current();
      await after(restMs);
      current.isBusy = false;
      if (current.isQueued && !current.isUnmounted) void begin();
    };
    if (current.isBusy) current.isQueued = true;
    else void begin();
  }, [afterMs]);
}

function after(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms));
}
