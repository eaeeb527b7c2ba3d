// Toasts: short messages at the lower edge, announced politely. Important messages belong in the page.
import { useSyncExternalStore } from "react";
import { Button } from "./Button.tsx";

type Action = { label: string; run: () => void };
type Item = { id: number; text: string; action?: Action | undefined };

const shownMs = 6_000;
/** Longer with a button, which takes time to reach. */
const actionShownMs = 20_000;
let items: Item[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

/** Shows a message for a few seconds, optionally with a button such as "Undo". Returns what hides it before that. */
export function showToast(text: string, action?: Action): () => void {
  const id = ++lastId;
  change([...items.filter(item => item.text !== text), { id, text, action }]);
  setTimeout(() => dismiss(id), action ? actionShownMs : shownMs);
  return () => dismiss(id);
}

export function toast(text: string, action?: Action): void {
  showToast(text, action);
}

function dismiss(id: number): void {
  change(items.filter(item => item.id !== id));
}

function change(next: Item[]): void {
  items = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Rendered once, next to the app. */
export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => items);
  return (
    <section className="toasts" aria-label="Notifications" aria-live="polite">
      {shown.map(({ id, text, action }) => (
        <div key={id} className="toast">
          {text}
          {action && (
            <Button
              small
              onClick={() => {
                dismiss(id);
                action.run();
              }}
            >
              {action.label}
            </Button>
          )}
          <Button look="plain" icon="cross" small aria-label="Dismiss" onClick={() => dismiss(id)} />
        </div>
      ))}
    </section>
  );
}
