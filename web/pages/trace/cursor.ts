// The keyboard cursor of the span tree: the selected span, and the rows passed while keys are pressed.
import { useEffect, useRef, useState } from "react";

type Select = (spanId: string, how: "click" | "move") => void;

export type Cursor = {
  at: string | undefined;
  /** Selects after `restMs`, so that holding an arrow key does not load every span passed. */
  move: (spanId: string) => void;
  choose: (spanId: string) => void;
};

const restMs = 120;

export function useCursor(selected: string | undefined, onSelect: Select): Cursor {
  const [at, setAt] = useState(selected);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const latest = useRef(onSelect);
  useEffect(() => {
    latest.current = onSelect;
  });
  useEffect(() => {
    clearTimeout(timer.current);
    setAt(selected);
  }, [selected]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const go = (spanId: string) => {
    clearTimeout(timer.current);
    setAt(spanId);
  };
  return {
    at,
    move(spanId) {
      go(spanId);
      timer.current = setTimeout(() => latest.current(spanId, "move"), restMs);
    },
    choose(spanId) {
      go(spanId);
      onSelect(spanId, "click");
    },
  };
}
