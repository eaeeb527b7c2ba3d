// The virtualized table of traces: only visible rows are in the DOM, and further pages load while scrolling.
// biome-ignore-all lint/a11y/useSemanticElements: rows of a <table> cannot be positioned or left out.
// biome-ignore-all lint/a11y/useFocusableInteractive: the links in the rows take the focus.
import { defaultRangeExtractor, useWindowVirtualizer } from "@tanstack/react-virtual";
import {
  type KeyboardEvent,
  type MouseEvent,
  memo,
  type Ref,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { numberText } from "../../format.ts";
import { bulkMax } from "../../mutations/traces.ts";
import type { ShownTraces, TraceRow, Traces } from "../../queries/use-trace-list.ts";
import { useShortcut } from "../../shell/shortcuts.ts";
import { Button } from "../../ui/Button.tsx";
import { useMedia } from "../../ui/media.ts";
import type { Selection } from "../../ui/selection.ts";
import { ColumnHandle } from "./ColumnHandle.tsx";
import { parseWidths } from "./column-widths.ts";
import { type CellContext, type Column, type Look, tracksOf, useColumns, widthOf } from "./columns.tsx";
import { columnWidths, type Density, density } from "./display.ts";

/** Row heights in rem; traces.css has the same. */
const rowRem: Record<Density, number> = { comfortable: 3.5, compact: 2 };
const cardRem = 8.75;
const wideCardRem = 5.75;
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
        <Head columns={columns} look={look} selection={cards ? undefined : selection} ref={headings} />
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
                <Row
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

type HeadProps = {
  columns: ReturnType<typeof useColumns>;
  look: Look;
  /** Undefined: the headings are hidden. */
  selection: Selection | undefined;
  ref: Ref<HTMLDivElement>;
};

function Head({ columns, look, selection, ref }: HeadProps) {
  const growing = columns.findIndex(({ growsTo }) => growsTo !== undefined);
  return (
    <div role="rowgroup" className="traces-head">
      <div className="traces-headings" role="presentation" ref={ref}>
        <div role="row" aria-rowindex={1} className="traces-row">
          <div role="columnheader" data-column="select">
            {selection ? <SelectAll selection={selection} /> : <span className="unseen">Select</span>}
          </div>
          {columns.map((column, at) => (
            <div key={column.id} role="columnheader" data-from={column.from} data-end={column.end}>
              <span className="heading-text">{column.label}</span>
              {selection && at !== growing && (
                <ColumnHandle
                  id={column.id}
                  label={column.label}
                  rem={widthOf(column, look)}
                  edge={at < growing ? "end" : "start"}
                />
              )}
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}

function SelectAll({ selection: { all, some, chooseAll } }: { selection: Selection }) {
  return (
    <label className="trace-select">
      <input
        type="checkbox"
        aria-label="Select all loaded traces"
        title={`Select all loaded traces, at most ${numberText(bulkMax)}`}
        checked={all}
        ref={box => {
          if (box) box.indeterminate = some && !all;
        }}
        onChange={() => chooseAll(!all)}
      />
    </label>
  );
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

type RowProps = {
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

const Row = memo(
  function Row({ row, columns, context, index, top, isCurrent, isSelected, onSelect, onFocus }: RowProps) {
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

/** All rows have the same height, in rem. The focused row stays in the DOM wherever the list is scrolled. */
function useRows(
  body: React.RefObject<HTMLDivElement | null>,
  rows: readonly TraceRow[],
  currentAt: number,
  dense: Density,
) {
  const cards = useMedia("(max-width: 1023px)");
  const narrow = useMedia("(max-width: 767px)");
  const [scrollMargin, setScrollMargin] = useState(0);
  const [rem] = useState(() => Number.parseFloat(getComputedStyle(document.documentElement).fontSize));
  const rowPx = rem * (narrow ? cardRem : cards ? wideCardRem : rowRem[dense]);
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => rowPx,
    overscan: 10,
    scrollMargin,
    scrollPaddingStart: rowPx * 2,
    scrollPaddingEnd: rowPx,
    rangeExtractor: range => {
      const visible = defaultRangeExtractor(range);
      if (currentAt < 0 || visible.includes(currentAt)) return visible;
      return currentAt < visible[0]! ? [currentAt, ...visible] : [...visible, currentAt];
    },
  });
  useLayoutEffect(() => {
    // Only on resize, because it forces a layout. Being off by a few rows is harmless.
    const measure = () => setScrollMargin((body.current?.getBoundingClientRect().top ?? 0) + scrollY);
    measure();
    addEventListener("resize", measure);
    return () => removeEventListener("resize", measure);
  }, [body]);
  useLayoutEffect(() => virtualizer.measure(), [virtualizer, rowPx]);
  return virtualizer;
}

/** Focuses a row's link once it is in the DOM; first that of `initial`. */
function useFocusRow(body: React.RefObject<HTMLDivElement | null>, initial: string | undefined) {
  const wanted = useRef<{ id: string | undefined; options?: FocusOptions }>({ id: initial });
  const focus = () => {
    const { id, options } = wanted.current;
    if (id === undefined) return;
    const link = body.current?.querySelector<HTMLElement>(`[data-id="${id}"] a`);
    if (!link) return;
    wanted.current = { id: undefined };
    link.focus({ preventScroll: true, ...options });
  };
  useEffect(() => {
    // After the page's main element, which every navigation focuses.
    const timer = setTimeout(focus);
    return () => clearTimeout(timer);
  });
  return (id: string) => {
    // WebKit would show no focus ring after a click.
    wanted.current = { id, options: { focusVisible: true } };
    focus();
  };
}
