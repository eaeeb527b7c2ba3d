// Opens what the user has to see in the editor's form: what was just added, and fields with errors.
import { useEffect, useRef } from "react";
import type { Issue } from "../../../src/model/refusal.ts";
import type { Editing } from "./document.ts";
import type { Folds } from "./folds.ts";
import { foldsOf } from "./sections.ts";

/** Focuses what a change asks for, such as the first field of a new check. */
export function useRequestedFocus(
  editor: { current: HTMLElement | null },
  focus: Editing["focus"],
  { reveal }: Folds,
): void {
  useEffect(() => {
    if (!focus) return;
    const { key, part, isNew } = focus;
    reveal(["checks", ...(isNew ? ([`check ${key!}`] as const) : [])], () => {
      const card = editor.current?.querySelector(`[data-key="${key ?? "add"}"]`);
      const wanted = part === "first" ? "input[data-path], textarea[data-path]" : `[data-part=${part}]`;
      const found = card?.querySelector<HTMLElement>(wanted) ?? card?.querySelector<HTMLElement>("button");
      card?.scrollIntoView({ block: "nearest" });
      found?.focus();
    });
  }, [editor, focus, reveal]);
}

type Revealing = { issues: Issue[]; isDue: boolean; view: string; editing: Editing; folds: Folds };

/** Opens the sections and checks of errors: when saving was tried, in drafts, and after the JSON was edited. */
export function useIssuesRevealed({ issues, isDue, view, editing, folds }: Revealing): void {
  const inJson = useRef(false);
  if (view === "json") inJson.current = true;
  const latest = useRef(editing);
  latest.current = editing;
  const { reveal } = folds;
  useEffect(() => {
    if (view === "json" || issues.length === 0 || !(isDue || inJson.current)) return;
    reveal(issues.flatMap(({ path }) => foldsOf(path, latest.current)));
  }, [issues, isDue, view, reveal]);
}
