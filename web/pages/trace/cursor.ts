// The span the keyboard is at: the selected one, and while keys are pressed what they pass on the way.
import { useEffect, useRef, useState } from "react";

type Select = (spanId: string, how: "click" | "move") => void;

export type Cursor = {
  at: string | undefined;
  /** Selects once it rests: who holds an arrow down does not read every span on the way. */
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
