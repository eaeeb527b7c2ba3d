// Small choices that this browser keeps, shared by its tabs; where storage is forbidden they last as long as the page.
import { useSyncExternalStore } from "react";

export type Kept<T extends string> = {
  get(): T;
  set(value: T): void;
  /** Told of every change, also by another tab. */
  subscribe(listener: () => void): () => void;
  use(): T;
};

/** `fits` says whether what is stored is still a value. */
export function kept<T extends string>(name: string, fallback: T, fits: (text: string) => boolean): Kept<T> {
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
  const self: Kept<T> = {
    get: () => value,
    set(next) {
      value = next;
      try {
        localStorage.setItem(name, next);
      } catch {
        // It lasts as long as the page.
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
