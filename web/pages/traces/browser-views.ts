// Views that earlier versions saved in this browser: they move to the account when the list is first opened.
import type { TraceSearch } from "../../queries/trace-search.ts";

export type LocalView = { name: string; search: TraceSearch };

const keyOf = (agentId: string) => `trace-views-${agentId}`;
const nameMax = 60;

/** Empty if there are none, or if storage is blocked or has something else. */
export function readBrowserViews(agentId: string): LocalView[] {
  try {
    return parseViews(localStorage.getItem(keyOf(agentId)) ?? "[]");
  } catch {
    return [];
  }
}

export function forgetBrowserViews(agentId: string): void {
  try {
    localStorage.removeItem(keyOf(agentId));
  } catch {
    // Storage is blocked: there was nothing to read either.
  }
}

export function parseViews(text: string): LocalView[] {
  const views: unknown = JSON.parse(text);
  if (!Array.isArray(views)) return [];
  return views.filter(
    (view): view is LocalView =>
      typeof view?.name === "string" &&
      view.name.trim() !== "" &&
      typeof view.search === "object" &&
      view.search !== null &&
      Object.values(view.search).every(value => typeof value === "string"),
  );
}

/** Those to save: one that the account has is left out, and one whose name has other filters gets another name. */
export function viewsToMove(local: readonly LocalView[], saved: readonly LocalView[]): LocalView[] {
  const taken = new Map(saved.map(({ name, search }) => [name, search]));
  return local.flatMap(({ name, search }) => {
    const known = taken.get(name);
    if (known && isSameSearch(known, search)) return [];
    const suffix = " (this browser)";
    const moved = known ? `${name.slice(0, nameMax - suffix.length)}${suffix}` : name.slice(0, nameMax);
    taken.set(moved, search);
    return [{ name: moved, search }];
  });
}

/** Whatever the order in which the filters were set. */
export function isSameSearch(one: TraceSearch, other: TraceSearch): boolean {
  const text = (search: TraceSearch) =>
    JSON.stringify(
      Object.entries(search)
        .filter(([, value]) => value)
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    );
  return text(one) === text(other);
}
