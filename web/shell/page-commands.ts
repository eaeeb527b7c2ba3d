// Commands that the current page adds to the palette.
import { useEffect, useRef } from "react";
import type { IconName } from "../ui/Icon.tsx";

export type PageCommand = { label: string; icon: IconName; run: () => void };

const registered = new Set<PageCommand>();

/** Adds a command while the component is mounted; none if `run` is undefined. */
export function usePageCommand(label: string, icon: IconName, run: (() => void) | undefined): void {
  const latest = useRef(run);
  useEffect(() => {
    latest.current = run;
  });
  const isOffered = run !== undefined;
  useEffect(() => {
    if (!isOffered) return;
    const command = { label, icon, run: () => latest.current?.() };
    registered.add(command);
    return () => {
      registered.delete(command);
    };
  }, [label, icon, isOffered]);
}

export function listPageCommands(): PageCommand[] {
  return [...registered];
}
