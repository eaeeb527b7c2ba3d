// The present time, for what is shown relative to it.
import { useEffect, useState } from "react";

/** Milliseconds since 1970, renewed every `everyMs`; null stands still. */
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
