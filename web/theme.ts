// Theme: light, dark or the system's. Applied on change, and by theme-first.js before the first paint.
import { persistedChoice } from "./persisted-choice.ts";

export type Theme = "light" | "dark" | "system";

export const themes: readonly { value: Theme; label: string }[] = [
  { value: "system", label: "System" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
];

const chosen = persistedChoice<Theme>("theme", "system", text => themes.some(({ value }) => value === text));
const systemDark = matchMedia("(prefers-color-scheme: dark)");

export const useTheme = chosen.use;

export function setTheme(theme: Theme): void {
  chosen.set(theme);
  apply();
}

/** Follows changes of the system's theme and choices in other tabs. */
export function followTheme(): void {
  systemDark.addEventListener("change", apply);
  chosen.subscribe(apply);
}

function apply(): void {
  const theme = chosen.get();
  const dark = theme === "dark" || (theme === "system" && systemDark.matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}
