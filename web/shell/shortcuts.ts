// Keyboard shortcuts: what is in force at the moment is also what the help lists.
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { persistedChoice } from "../persisted-choice.ts";

/** "?", "g a" (one after the other) or "mod+k" (⌘ on a Mac, else Ctrl). */
type Shortcut = { keys: string; label: string; run: () => void };

/** Single keys can get in the way of speech input and assistive technology. */
export const singleKeys = persistedChoice<"on" | "off">(
  "single-keys",
  "on",
  text => text === "on" || text === "off",
);

const inForce = new Set<Shortcut>();
const togetherMs = 1_000;
let before = { key: "", at: 0 };

/** In force while the component is there. */
export function useShortcut(keys: string, label: string, run: () => void): void {
  const latest = useRef(run);
  useEffect(() => {
    latest.current = run;
  });
  useEffect(() => {
    const shortcut = { keys, label, run: () => latest.current() };
    if (inForce.size === 0) addEventListener("keydown", onKeyDown);
    inForce.add(shortcut);
    return () => {
      inForce.delete(shortcut);
      if (inForce.size === 0) removeEventListener("keydown", onKeyDown);
    };
  }, [keys, label]);
}

/** A shortcut that opens an address; without one it does nothing. */
export function useGo(keys: string, label: string, href: string | undefined): void {
  const navigate = useNavigate();
  useShortcut(keys, label, () => {
    if (href !== undefined) void navigate({ href });
  });
}

export function listShortcuts(): Shortcut[] {
  return [...inForce];
}

export const isMac = navigator.platform.startsWith("Mac");

function onKeyDown(event: KeyboardEvent): void {
  const mod = isMac ? event.metaKey : event.ctrlKey;
  const pressed = mod ? `mod+${event.key.toLowerCase()}` : event.key;
  const alone = !event.ctrlKey && !event.metaKey && !event.altKey;
  if (!mod && !(alone && singleKeys.get() === "on" && isFree(event.target))) return;
  const now = event.timeStamp;
  const sequence = now - before.at < togetherMs ? `${before.key} ${pressed}` : "";
  before = { key: pressed, at: now };
  const inForceNow = listShortcuts();
  // "g k" goes before a "k" of the page's own.
  const found =
    inForceNow.find(({ keys }) => keys === sequence) ?? inForceNow.find(({ keys }) => keys === pressed);
  if (!found) return;
  event.preventDefault();
  found.run();
}

/** Not where text is typed, nor under a dialog or in a menu, which have keys of their own. */
function isFree(target: EventTarget | null): boolean {
  if (document.querySelector("[role=dialog], [role=alertdialog], [role=menu]")) return false;
  return !(target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable]"));
}
