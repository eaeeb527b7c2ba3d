// Row selection: single rows, ranges with Shift, or all.
import { useRef, useState } from "react";

export type Selection = {
  ids: ReadonlySet<string>;
  has: (id: string) => boolean;
  all: boolean;
  some: boolean;
  /** `range`: from the previously chosen row to this one. */
  choose: (id: string, on: boolean, range: boolean) => void;
  chooseAll: (on: boolean) => void;
};

/**
 * Hidden rows do not count as selected; they do again once they are shown. All are the first `allMax`, if there are more.
 */
export function useSelection(shown: readonly string[], allMax = Infinity): Selection {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const previous = useRef<string>(undefined);
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
    all: shown.length > 0 && ids.size >= Math.min(shown.length, allMax),
    some: ids.size > 0,
    choose(id, on, range) {
      const [from, to] = [shown.indexOf(previous.current ?? id), shown.indexOf(id)].sort((a, b) => a - b);
      previous.current = id;
      set(range && from! >= 0 ? shown.slice(from, to! + 1) : [id], on);
    },
    chooseAll: on => set(on ? shown.slice(0, allMax) : shown, on),
  };
}
