// Keyboard shortcuts: registers them while components are mounted, and lists them for the help.
import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { persistedChoice } from "../persisted-choice.ts";
import { useLatest } from "../ui/use-latest.ts";

/** "?", "g a" (one key after the other) or "mod+k" (⌘ on a Mac, otherwise Ctrl). */
type Shortcut = { keys: string; label: string; run: () => void };

/** Single-key shortcuts can interfere with speech input and assistive technology, so they can be switched off. */
export const singleKeys = persistedChoice<"on" | "off">(
  "single-keys",
  "on",
  text => text === "on" || text === "off",
);

const registered = new Set<Shortcut>();
const sequenceMs = 1_000;
let lastPress = { key: "", at: 0 };

/** Registers a shortcut while the component is mounted; none if `run` is undefined. */
export function useShortcut(keys: string, label: string, run: (() => void) | undefined): void {
  const runLatest = useLatest(run);
  const isOffered = run !== undefined;
  useEffect(() => {
    if (!isOffered) return;
    const shortcut = { keys, label, run: runLatest };
    if (registered.size === 0) addEventListener("keydown", onKeyDown);
    registered.add(shortcut);
    return () => {
      registered.delete(shortcut);
      if (registered.size === 0) removeEventListener("keydown", onKeyDown);
    };
  }, [keys, label, isOffered, runLatest]);
}

/** A shortcut that navigates to `href`; none without one. */
export function useGo(keys: string, label: string, href: string | undefined): void {
  const navigate = useNavigate();
  useShortcut(keys, label, href === undefined ? undefined : () => void navigate({ href }));
}

function listShortcuts(): Shortcut[] {
  return [...registered];
}

/** The shortcuts that work now: with single keys switched off, only those with ⌘ or Ctrl. */
export function workingShortcuts(): Shortcut[] {
  return listShortcuts().filter(({ keys }) => singleKeys.get() === "on" || keys.startsWith("mod+"));
}

export const isMac = navigator.platform.startsWith("Mac");

function onKeyDown(event: KeyboardEvent): void {
  const mod = isMac ? event.metaKey : event.ctrlKey;
  const pressed = mod ? `mod+${event.key.toLowerCase()}` : event.key;
  const alone = !event.ctrlKey && !event.metaKey && !event.altKey;
  if (!mod && !(alone && singleKeys.get() === "on" && allowsSingleKeys(event.target))) return;
  const now = event.timeStamp;
  const sequence = now - lastPress.at < sequenceMs ? `${lastPress.key} ${pressed}` : "";
  lastPress = { key: pressed, at: now };
  const current = listShortcuts();
  // The sequence "g k" takes precedence over a "k" of the page.
  const found = current.find(({ keys }) => keys === sequence) ?? current.find(({ keys }) => keys === pressed);
  if (!found) return;
  event.preventDefault();
  found.run();
}

/** Single keys do not work in text fields, dialogs and menus, which handle keys themselves. */
function allowsSingleKeys(target: EventTarget | null): boolean {
  if (document.querySelector("[role=dialog], [role=alertdialog], [role=menu]")) return false;
  return !(target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable]"));
}
