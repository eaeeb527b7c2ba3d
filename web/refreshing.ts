// Reading again because of events: at once, and where they come in numbers now and then.
import { useCallback, useEffect, useRef } from "react";

const restMs = 2_000;

/** What it returns runs `read` at once, or after a rest from the time before; what comes meanwhile is one more time. */
export function useRefresh(read: () => Promise<unknown>): () => void {
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
      current.again = false;
      await latest.current();
      await new Promise(resolve => setTimeout(resolve, restMs));
      current.resting = false;
      if (current.again && !current.gone) void begin();
    };
    if (current.resting) current.again = true;
    else void begin();
  }, []);
}
