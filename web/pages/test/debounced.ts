// Hooks that debounce a value, or keep the same object while its JSON is equal.
import { useEffect, useMemo, useState } from "react";

const pauseMs = 250;

/** The value once it has not changed for 250 ms, for example when typing pauses. */
export function useDebounced<T>(value: T): T {
  const [debounced, setDebounced] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(value), pauseMs);
    return () => clearTimeout(timer);
  }, [value]);
  return debounced;
}

/** The same object as long as its JSON is equal. */
export function useSame<T>(value: T): T {
  const text = JSON.stringify(value);
  return useMemo(() => JSON.parse(text), [text]);
}
