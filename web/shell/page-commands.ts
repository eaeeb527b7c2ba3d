// Commands that the current page adds to the palette.
import { useEffect } from "react";
import type { IconName } from "../ui/icons.ts";
import { useLatest } from "../ui/use-latest.ts";

export type PageCommand = { label: string; icon: IconName; run: () => void };

const registered = new Set<PageCommand>();

/** Adds a command while the component is mounted; none if `run` is undefined. */
export function usePageCommand(label: string, icon: IconName, run: (() => void) | undefined): void {
  const runLatest = useLatest(run);
  const isOffered = run !== undefined;
  useEffect(() => {
    if (!isOffered) return;
    const command = { label, icon, run: runLatest };
    registered.add(command);
    return () => {
      registered.delete(command);
    };
  }, [label, icon, isOffered, runLatest]);
}

export function listPageCommands(): PageCommand[] {
  return [...registered];
}
