// Which sections of the editor's form and which checks are open; the others are one line each.
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { FoldId } from "./sections.ts";

export type Folds = {
  isOpen: (id: FoldId) => boolean;
  toggle: (id: FoldId) => void;
  /** Opens these, and then runs the action, for example to focus a field in them. */
  reveal: (ids: readonly FoldId[], act?: () => void) => void;
};

export function useFolds(initial: () => readonly FoldId[]): Folds {
  const [open, setOpen] = useState<ReadonlySet<FoldId>>(() => new Set(initial()));
  const waiting = useRef<() => void>(undefined);
  useEffect(() => {
    const act = waiting.current;
    waiting.current = undefined;
    act?.();
  });
  const toggle = useCallback((id: FoldId) => {
    setOpen(open => {
      const next = new Set(open);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  }, []);
  const reveal = useCallback((ids: readonly FoldId[], act?: () => void) => {
    if (act) waiting.current = act;
    // A new set each time, so that the action runs also if all are open.
    setOpen(open => new Set([...open, ...ids]));
  }, []);
  return useMemo(() => ({ isOpen: id => open.has(id), toggle, reveal }), [open, toggle, reveal]);
}
