// A choice stored in localStorage and shared by all tabs. If storage is blocked, it lasts until the page is closed.
import { useSyncExternalStore } from "react";

export type PersistedChoice<T extends string> = {
  get(): T;
  set(value: T): void;
  /** Called on every change, also by another tab. */
  subscribe(listener: () => void): () => void;
  use(): T;
};

/** `fits` returns whether a stored text is still a valid value. */
export function persistedChoice<T extends string>(
  name: string,
  fallback: T,
  fits: (text: string) => boolean,
): PersistedChoice<T> {
  const listeners = new Set<() => void>();
  const read = (): T => {
    try {
      const stored = localStorage.getItem(name);
      return stored !== null && fits(stored) ? (stored as T) : fallback;
    } catch {
      return fallback;
    }
  };
  let value = read();
  const tell = () => {
    for (const listener of listeners) listener();
  };
  addEventListener("storage", event => {
    if (event.key !== name && event.key !== null) return;
    value = read();
    tell();
  });
  const self: PersistedChoice<T> = {
    get: () => value,
    set(next) {
      value = next;
      try {
        localStorage.setItem(name, next);
      } catch {
        // Storage is blocked or full.
      }
      tell();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    use: () => useSyncExternalStore(self.subscribe, self.get),
  };
  return self;
}
