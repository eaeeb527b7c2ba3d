// The virtualized table of traces: only visible rows are in the DOM, and further pages load while scrolling.
// biome-ignore-all lint/a11y/useSemanticElements: rows of a <table> cannot be positioned or left out.
// biome-ignore-all lint/a11y/useFocusableInteractive: the links in the rows take the focus.
import { type KeyboardEvent, useCallback, useEffect, useRef, useState } from "react";
import type { ShownTraces, Traces } from "../../queries/use-trace-list.ts";
import { useShortcut } from "../../shell/shortcuts.ts";
import { Button } from "../../ui/Button.tsx";
import { useMedia } from "../../ui/media.ts";
import type { Selection } from "../../ui/selection.ts";
import { parseWidths } from "./column-widths.ts";
import { type CellContext, tracksOf, useColumns } from "./columns.tsx";
import { columnWidths, density } from "./display.ts";
import { TraceHead } from "./TraceHead.tsx";
import { TraceTableRow } from "./TraceTableRow.tsx";
import { useFocusRow, useRows } from "./virtual-rows.ts";

/** Scrolled less than this counts as at the top. */
const topPx = 32;
/** The next page loads this many rows ahead of the visible ones. */
const ahead = 200;

type TraceTableProps = {
  list: Traces;
  shown: ShownTraces;
  context: CellContext;
  selection: Selection;
  /** The row to focus first, when the user comes back to the list. */
  current: string | undefined;
  onCurrent: (id: string) => void;
};

export function TraceTable({
  list,
  shown,
  context,
  selection,
  current: initial,
  onCurrent,
}: TraceTableProps) {
  const { rows, nextCursor } = shown;
  const columns = useColumns();
  const cards = useMedia("(max-width: 1023px)");
  const chosen = density.use();
  const dense = cards ? "comfortable" : chosen;
  const widths = parseWidths(columnWidths.use()) ?? {};
  const look = { density: dense, times: context.times, widths };
  const body = useRef<HTMLDivElement>(null);
  const headings = useRef<HTMLDivElement>(null);
  const [current, setCurrent] = useState(initial);
  const currentAt = current === undefined ? -1 : list.indexOf(current);
  const virtualizer = useRows(body, rows, currentAt, dense);
  const items = virtualizer.getVirtualItems();
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0];

  useEffect(() => list.setVisible(first, last), [list, first, last]);
  useMoreRows(list, shown, virtualizer);
  useAtTop(list, virtualizer);

  const focusRow = useFocusRow(body, initial);
  const move = (step: number) => {
    // From the current row, or its old place if it was deleted; without one from the first visible row.
    const from =
      current === undefined ? (virtualizer.range?.startIndex ?? 0) - step : list.positionFor(current);
    const to = Math.max(0, Math.min(from + step, rows.length - 1));
    const row = rows[to];
    if (!row) return;
    virtualizer.scrollToIndex(to, { align: "auto" });
    setCurrent(row.id);
    focusRow(row.id);
  };
  useShortcut("j", "Next trace", () => move(1));
  useShortcut("k", "Previous trace", () => move(-1));
  const onSelect = useLatestChoice(selection);
  useShortcut("x", "Select trace", () => {
    if (current !== undefined && currentAt >= 0) selection.choose(current, !selection.has(current), false);
  });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      move(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Escape") {
      (document.activeElement as HTMLElement | null)?.blur();
      setCurrent(undefined);
    }
  };

  return (
    <>
      {shown.fresh.count > 0 && (
        <Fresh
          fresh={shown.fresh}
          onGo={() => {
            list.setAtTop(true);
            scrollTo({ top: 0 });
          }}
        />
      )}
      <div
        className="traces-table"
        role="table"
        aria-label="Traces"
        aria-rowcount={nextCursor === null ? rows.length + 1 : -1}
        data-density={dense}
        style={tracksOf(columns, look)}
        onKeyDown={onKeyDown}
      >
        <TraceHead columns={columns} look={look} selection={cards ? undefined : selection} ref={headings} />
        <div
          role="rowgroup"
          ref={body}
          className="traces-body"
          onScroll={event => headings.current?.scrollTo({ left: event.currentTarget.scrollLeft })}
          style={{ blockSize: virtualizer.getTotalSize() }}
        >
          {items.map(({ index, start }) => {
            const row = rows[index];
            return (
              row && (
                <TraceTableRow
                  key={row.id}
                  {...{ row, columns, context, index, onSelect }}
                  isSelected={selection.has(row.id)}
                  top={start - virtualizer.options.scrollMargin}
                  isCurrent={index === currentAt}
                  onFocus={id => {
                    setCurrent(id);
                    onCurrent(id);
                  }}
                />
              )
            );
          })}
        </div>
      </div>
    </>
  );
}

type Virtualized = ReturnType<typeof useRows>;

/** Loads more rows before the user reaches the last one. */
function useMoreRows(list: Traces, { rows, busy }: ShownTraces, { range }: Virtualized): void {
  const near = range !== null && range.endIndex + ahead >= rows.length;
  useEffect(() => {
    if (near && !busy) void list.more();
  });
}

/** New traces appear immediately only while the list is at its top. */
function useAtTop(list: Traces, virtualizer: Virtualized): void {
  useEffect(() => {
    // The virtualizer's own reading, because reading scrollY again would force a layout.
    const update = () => list.setAtTop((virtualizer.scrollOffset ?? 0) < topPx);
    update();
    addEventListener("scroll", update, { passive: true });
    return () => removeEventListener("scroll", update);
  }, [list, virtualizer]);
}

/** `choose` of the latest selection, as a function that stays the same, so that rows are not rendered again. */
function useLatestChoice(selection: Selection): Selection["choose"] {
  const latest = useRef(selection);
  useEffect(() => {
    latest.current = selection;
  });
  return useCallback((id, on, range) => latest.current.choose(id, on, range), []);
}

function Fresh({ fresh: { count, atLeast }, onGo }: { fresh: ShownTraces["fresh"]; onGo: () => void }) {
  return (
    <div className="fresh">
      <Button look="main" small icon="top" onClick={onGo}>
        <span>
          {count}
          {atLeast && "+"} new<span className="unseen"> traces: back to top</span>
        </span>
      </Button>
    </div>
  );
}
