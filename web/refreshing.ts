// Reading again because of events: at once or a little later, and where they come in numbers now and then.
import { useCallback, useEffect, useRef } from "react";

const restMs = 2_000;

/**
 * What it returns runs `read` after `afterMs`, which may be at once, or after a rest from the time before; what comes
 * meanwhile is one more time.
 */
export function useRefresh(read: () => Promise<unknown>, afterMs = 0): () => void {
  const latest = useRef(read);
  useEffect(() => {
    latest.current = read;
  });
  const state = useRef({ resting: false, again: false, gone: false });
  useEffect(() => {
    const { current } = state;
    current.gone = false;
    return () => {
      current.gone = true;
    };
  }, []);
  return useCallback(() => {
    const { current } = state;
    const begin = async () => {
      current.resting = true;
      if (afterMs > 0) await after(afterMs);
      current.resting = !current.gone;
      if (current.gone) return;
      current.again = false;
      await latest.current();
      await after(restMs);
      current.resting = false;
      if (current.again && !current.gone) void begin();
    };
    if (current.resting) current.again = true;
    else void begin();
  }, [afterMs]);
}

function after(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms));
}
