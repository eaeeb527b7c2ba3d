// Short news at the lower edge, read out calmly; whatever must not be missed belongs into the page.
import { useSyncExternalStore } from "react";
import { Button } from "./Button.tsx";

type Item = { id: number; text: string };

const shownMs = 6_000;
let items: Item[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

/** Shows a sentence for a few seconds. */
export function toast(text: string): void {
  const id = ++lastId;
  change([...items.filter(item => item.text !== text), { id, text }]);
  setTimeout(() => dismiss(id), shownMs);
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

/** Once, beside the app. */
export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => items);
  return (
    <section className="toasts" aria-label="News" aria-live="polite">
      {shown.map(({ id, text }) => (
        <div key={id} className="toast">
          {text}
          <Button look="plain" icon="cross" small aria-label="Dismiss" onClick={() => dismiss(id)} />
        </div>
      ))}
    </section>
  );
}
