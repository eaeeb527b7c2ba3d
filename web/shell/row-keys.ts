// Shortcuts j and k for tables: they focus the next or previous row's link, which Enter opens.
import { type RefObject, useRef } from "react";
import { useShortcut } from "./shortcuts.ts";

/** For a table whose rows have a link in their row header; `noun` names a row in the shortcut help. */
export function useRowKeys(noun: string): RefObject<HTMLTableElement | null> {
  const table = useRef<HTMLTableElement>(null);
  const go = (step: 1 | -1) => {
    const names = [...(table.current?.querySelectorAll<HTMLElement>("tbody th a") ?? [])];
    const at = names.findIndex(name => name.closest("tr")?.contains(document.activeElement));
    // WebKit would show no focus ring after a click.
    names[at < 0 ? 0 : Math.min(Math.max(at + step, 0), names.length - 1)]?.focus({ focusVisible: true });
  };
  useShortcut("j", `Next ${noun}`, () => go(1));
  useShortcut("k", `Previous ${noun}`, () => go(-1));
  return table;
}
