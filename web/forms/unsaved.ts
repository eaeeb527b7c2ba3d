// Which forms on the page have unsaved changes. LeaveGuard asks before they are lost.
import { useEffect, useId, useSyncExternalStore } from "react";

const changedForms = new Set<string>();
const listeners = new Set<() => void>();

export const hasUnsavedChanges = () => changedForms.size > 0;

export const useHasUnsavedChanges = () => useSyncExternalStore(listen, hasUnsavedChanges);

/** Of one form. Returns what to call once it is saved: a navigation right after that asks nothing. */
export function useUnsavedChanges(isChanged: boolean): () => void {
  const form = useId();
  useEffect(() => mark(form, isChanged));
  useEffect(() => () => mark(form, false), [form]);
  return () => mark(form, false);
}

function mark(form: string, isChanged: boolean): void {
  if (changedForms.has(form) === isChanged) return;
  if (isChanged) changedForms.add(form);
  else changedForms.delete(form);
  for (const listener of listeners) listener();
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
