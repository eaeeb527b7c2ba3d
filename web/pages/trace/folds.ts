// The collapsed rows of the span tree. Ancestors of the chosen row are always expanded.
import { useEffect, useRef, useState } from "react";
import type { Tree } from "./tree.ts";

export type Folds = {
  /** Ids of spans. */
  folded: ReadonlySet<string>;
  toggle: (spanId: string) => void;
  foldAll: () => void;
  unfoldAll: () => void;
};

/** Expands the ancestors of `shown` whenever it changes. */
export function useFolds(tree: Tree, shown: string | undefined): Folds {
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const latest = useRef(tree);
  useEffect(() => {
    latest.current = tree;
  });
  useEffect(() => {
    const { rows, positions } = latest.current;
    const position = positions.get(shown ?? "");
    if (position === undefined) return;
    setFolded(before => {
      const after = new Set(before);
      for (let at = rows[position]!.parent; at !== -1; at = rows[at]!.parent) {
        after.delete(rows[at]!.span.spanId);
      }
      return after.size === before.size ? before : after;
    });
  }, [shown]);
  return {
    folded,
    toggle: spanId =>
      setFolded(before => {
        const after = new Set(before);
        if (!after.delete(spanId)) after.add(spanId);
        return after;
      }),
    foldAll: () =>
      setFolded(new Set(tree.rows.filter((row, at) => row.end > at + 1).map(({ span }) => span.spanId))),
    unfoldAll: () => setFolded(new Set()),
  };
}
