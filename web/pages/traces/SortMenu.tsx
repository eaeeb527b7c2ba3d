// The order of the list of traces: by time, duration, tokens or cost.
import { searchesSpans, type TraceSearch, traceOrders } from "../../queries/trace-search.ts";
import { Menu, type MenuEntry } from "../../ui/Menu.tsx";
import { isTimeOrder } from "./filters.ts";

type SortMenuProps = { search: TraceSearch; onChange: (search: TraceSearch) => void };

export function SortMenu({ search, onChange }: SortMenuProps) {
  const onlyTime = searchesSpans(search);
  const choices = Object.entries(traceOrders)
    .map(([value, label]) => ({ value, label }))
    .filter(({ value }) => !onlyTime || isTimeOrder(value));
  const { order = "newest" } = search;
  const entries: MenuEntry[] = [
    {
      ...{ kind: "choice", label: "Sort", chosen: order, choices },
      onChoose: value => onChange({ ...search, order: value === "newest" ? undefined : value }),
    },
  ];
  if (onlyTime) entries.push({ kind: "note", text: "Searches in spans are sorted by time." });
  return (
    <Menu icon="sort" entries={entries}>
      {Object.hasOwn(traceOrders, order) ? traceOrders[order] : "Sort"}
    </Menu>
  );
}
