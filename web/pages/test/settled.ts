// A value once it has stayed the same for a moment, as when typing pauses.
import { useEffect, useState } from "react";

const pauseMs = 250;

export function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pauseMs);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
