// A row of the list of traces: a checkbox and its cells. A click anywhere else in it opens the trace.
// biome-ignore-all lint/a11y/useSemanticElements: rows of a <table> cannot be positioned or left out.
// biome-ignore-all lint/a11y/useFocusableInteractive: the link in the row takes the focus.
import { type MouseEvent, memo } from "react";
import type { TraceRow } from "../../queries/use-trace-list.ts";
import type { Selection } from "../../ui/selection.ts";
import type { CellContext, Column } from "./columns.tsx";

type TraceTableRowProps = {
  row: TraceRow;
  columns: readonly Column[];
  context: CellContext;
  index: number;
  top: number;
  isCurrent: boolean;
  isSelected: boolean;
  onSelect: Selection["choose"];
  onFocus: (id: string) => void;
};

export const TraceTableRow = memo(
  function TraceTableRow({
    row,
    columns,
    context,
    index,
    top,
    isCurrent,
    isSelected,
    onSelect,
    onFocus,
  }: TraceTableRowProps) {
    return (
      // biome-ignore lint/a11y/useKeyWithClickEvents: the key is the link's, which spans the row.
      <div
        role="row"
        aria-rowindex={index + 2}
        className="traces-row"
        data-id={row.id}
        data-current={isCurrent || undefined}
        data-selected={isSelected || undefined}
        style={{ transform: `translateY(${top}px)` }}
        onFocus={() => onFocus(row.id)}
        onClick={passToLink}
      >
        <div role="cell" data-column="select">
          <label className="trace-select">
            <input
              type="checkbox"
              aria-label={`Select ${row.userInput || row.name || "unnamed trace"}`}
              checked={isSelected}
              onChange={({ target, nativeEvent }) =>
                onSelect(row.id, target.checked, (nativeEvent as globalThis.MouseEvent).shiftKey)
              }
            />
          </label>
        </div>
        {columns.map(({ id, from, end, label, cell }) => (
          <div key={id} role="cell" data-column={id} data-from={from} data-end={end} data-label={label}>
            {cell(row, context)}
          </div>
        ))}
      </div>
    );
  },
  (one, other) =>
    one.row === other.row &&
    one.columns === other.columns &&
    one.context === other.context &&
    one.index === other.index &&
    one.top === other.top &&
    one.isSelected === other.isSelected &&
    one.isCurrent === other.isCurrent,
);

/** A click anywhere in the row acts as a click on its link, modifier keys included, so that a new tab stays one. */
function passToLink(event: MouseEvent<HTMLDivElement>): void {
  if ((event.target as Element).closest("a, button, label")) return;
  const link = event.currentTarget.querySelector("a");
  link?.dispatchEvent(new window.MouseEvent("click", event.nativeEvent));
}
