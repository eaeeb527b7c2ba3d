// The context of the test editor: issues and warnings by field, when to show them, vocabulary, and how to change the document.

import { createContext, use } from "react";
import type { Vocabulary } from "../../../src/http/test-cases/editor-schemas.ts";
import type { Issue } from "../../../src/model/refusal.ts";
import type { KnownRestsOn } from "../../queries/editor.ts";
import type { Change } from "./document.ts";
import type { Folds } from "./folds.ts";

export type EditorFacts = {
  issues: Issue[];
  warnings: Issue[];
  /** Whether the error of an empty field at this path is shown: the user has left the field or tried to save. */
  isDue: (path: string) => boolean;
  /** Undefined while loading, or if loading failed. */
  vocabulary: Vocabulary | undefined;
  /** What the judge found that criteria rest on, by criterion. */
  restsOn: KnownRestsOn;
  /** The test's threshold, for assertions without their own. */
  threshold: unknown;
  change: (change: Change) => void;
  folds: Folds;
  /** The row of the inputs that gets the focus, once it is rendered; a new object each time. */
  inputRow: { row: number } | undefined;
  focusInput: (row: number) => void;
};

export const EditorContext = createContext<EditorFacts | undefined>(undefined);

export function useEditorContext(): EditorFacts {
  const context = use(EditorContext);
  if (!context) throw new Error("useEditorContext is called outside of the editor");
  return context;
}

/** The error and the warning of a field; `deep`: also those inside its value. */
export function useFaultOf(
  path: string,
  { isEmpty = false, deep = false }: { isEmpty?: boolean; deep?: boolean },
): { fault: string | undefined; warning: string | undefined } {
  const { issues, warnings, isDue } = useEditorContext();
  const at = (list: Issue[]) => {
    const found = list.find(issue => issue.path === path || (deep && isInside(issue.path, path)));
    if (!found) return undefined;
    const within = found.path.slice(path.length).replace(/^\./, "");
    return within ? `${within}: ${found.message}` : found.message;
  };
  return { fault: isEmpty && !isDue(path) ? undefined : at(issues), warning: at(warnings) };
}

function isInside(path: string, outer: string): boolean {
  return path.startsWith(outer) && /^[.[]/.test(path.slice(outer.length));
}

/** The element that edits the path, or the nearest enclosing field. */
export function fieldOf(form: HTMLElement, path: string): HTMLElement | undefined {
  const fields = [...form.querySelectorAll<HTMLElement>("[data-path]")].filter(({ dataset }) => {
    const own = dataset["path"] ?? "";
    return own === path || isInside(path, own);
  });
  const nearest = fields.sort((a, b) => b.dataset["path"]!.length - a.dataset["path"]!.length)[0];
  if (!nearest) return undefined;
  const within = "input, textarea, select, button";
  return nearest.matches(within) ? nearest : (nearest.querySelector<HTMLElement>(within) ?? undefined);
}
