// Values that change less often: once they have stayed the same for a moment, or only where they say something else.
import { useEffect, useMemo, useState } from "react";

const pauseMs = 250;

/** As when typing pauses. */
export function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pauseMs);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

/** One and the same object for as long as it says the same as JSON. */
export function useSame<T>(value: T): T {
  const text = JSON.stringify(value);
  return useMemo(() => JSON.parse(text), [text]);
}
