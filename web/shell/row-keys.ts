// Going through the rows of a table by j and k: the focus is put on a row's name, where Enter opens it.
import { type RefObject, useRef } from "react";
import { useShortcut } from "./shortcuts.ts";

/** For a table whose rows have a link in their heading; `noun` is what a row is, for the help. */
export function useRowKeys(noun: string): RefObject<HTMLTableElement | null> {
  const table = useRef<HTMLTableElement>(null);
  const go = (step: 1 | -1) => {
    const names = [...(table.current?.querySelectorAll<HTMLElement>("tbody th a") ?? [])];
    const at = names.findIndex(name => name.closest("tr")?.contains(document.activeElement));
    names[at < 0 ? 0 : Math.min(Math.max(at + step, 0), names.length - 1)]?.focus();
  };
  useShortcut("j", `Next ${noun}`, () => go(1));
  useShortcut("k", `Previous ${noun}`, () => go(-1));
  return table;
}
