// Which of the rows that are shown are selected: one by one, in ranges, or all.
import { useRef, useState } from "react";

export type Selection = {
  ids: ReadonlySet<string>;
  has: (id: string) => boolean;
  all: boolean;
  some: boolean;
  /** `range`: all from the one chosen before to this one. */
  choose: (id: string, on: boolean, range: boolean) => void;
  chooseAll: (on: boolean) => void;
};

/** What is not shown is not selected; it is again once it is shown. */
export function useSelection(shown: readonly string[]): Selection {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const before = useRef<string>(undefined);
  const ids = new Set(shown.filter(id => chosen.has(id)));
  const set = (some: readonly string[], on: boolean) =>
    setChosen(old => {
      const next = new Set(old);
      for (const id of some) {
        if (on) next.add(id);
        else next.delete(id);
      }
      return next;
    });
  return {
    ids,
    has: id => ids.has(id),
    all: shown.length > 0 && ids.size === shown.length,
    some: ids.size > 0,
    choose(id, on, range) {
      const [from, to] = [shown.indexOf(before.current ?? id), shown.indexOf(id)].sort((a, b) => a - b);
      before.current = id;
      set(range && from! >= 0 ? shown.slice(from, to! + 1) : [id], on);
    },
    chooseAll: on => set(shown, on),
  };
}
