// Hook for the current time, updated at an interval.
import { useEffect, useState } from "react";

/** Milliseconds since 1970, updated every `everyMs`; null: no updates. */
export function useNow(everyMs: number | null): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (everyMs === null) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
