// The rows of the list of traces: only those in sight are in the page, and further ones are read as they come near.
// biome-ignore-all lint/a11y/useSemanticElements: a browser’s own rows could not be placed, nor most be left out.
// biome-ignore-all lint/a11y/useFocusableInteractive: the focus is on the links within.
import { defaultRangeExtractor, useWindowVirtualizer } from "@tanstack/react-virtual";
import {
  type KeyboardEvent,
  type MouseEvent,
  memo,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import type { ShownTraces, TraceRow, Traces } from "../../queries/use-trace-list.ts";
import { useShortcut } from "../../shell/shortcuts.ts";
import { Button } from "../../ui/Button.tsx";
import { useMedia } from "../../ui/media.ts";
import { type CellContext, type Column, tracksOf, useColumns } from "./columns.tsx";

/** Of the height of the root's letters; the stylesheet has the same. */
const rowRem = 2;
const cardRem = 7.5;
const wideCardRem = 4.25;
/** So near to the top is at the top. */
const topPx = 32;
/** Further rows are read this many rows before their place comes into sight. */
const ahead = 200;

type TraceTableProps = {
  list: Traces;
  shown: ShownTraces;
  context: CellContext;
  /** The row to begin with, for whoever comes back to it; told of every other. */
  current: string | undefined;
  onCurrent: (id: string) => void;
};

export function TraceTable({ list, shown, context, current: initial, onCurrent }: TraceTableProps) {
  const { rows, nextCursor } = shown;
  const columns = useColumns();
  const body = useRef<HTMLDivElement>(null);
  const headings = useRef<HTMLDivElement>(null);
  const [current, setCurrent] = useState(initial);
  const currentAt = current === undefined ? -1 : list.indexOf(current);
  const virtualizer = useRows(body, rows, currentAt);
  const items = virtualizer.getVirtualItems();
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0];

  useEffect(() => list.see(first, last), [list, first, last]);
  const near = virtualizer.range !== null && virtualizer.range.endIndex + ahead >= rows.length;
  useEffect(() => {
    if (near && !shown.busy) void list.more();
  });
  useEffect(() => {
    // What the virtualizer has read: another reading would make the browser lay out the page at once.
    const look = () => list.setAtTop((virtualizer.scrollOffset ?? 0) < topPx);
    look();
    addEventListener("scroll", look, { passive: true });
    return () => removeEventListener("scroll", look);
  }, [list, virtualizer]);

  const focusRow = useFocusRow(body, initial);
  const move = (step: number) => {
    // From where the row was, should it have gone; without one, from what is in sight.
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
        style={tracksOf(columns)}
        onKeyDown={onKeyDown}
      >
        <div role="rowgroup" className="traces-head">
          <div className="traces-headings" role="presentation" ref={headings}>
            <div role="row" aria-rowindex={1} className="traces-row">
              {columns.map(({ id, label, from, end }) => (
                <div key={id} role="columnheader" data-from={from} data-end={end}>
                  {label}
                </div>
              ))}
            </div>
          </div>
        </div>
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
                  {...{ row, columns, context, index }}
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

function Fresh({ fresh: { count, atLeast }, onGo }: { fresh: ShownTraces["fresh"]; onGo: () => void }) {
  return (
    <div className="fresh">
      <Button look="main" small icon="top" onClick={onGo}>
        <span>
          {count}
          {atLeast && "+"} new<span className="unseen"> traces: go to the top</span>
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
  onFocus: (id: string) => void;
};

const Row = memo(
  function Row({ row, columns, context, index, top, isCurrent, onFocus }: RowProps) {
    return (
      // biome-ignore lint/a11y/useKeyWithClickEvents: the key is the link's, which spans the row.
      <div
        role="row"
        aria-rowindex={index + 2}
        className="traces-row"
        data-id={row.id}
        data-current={isCurrent || undefined}
        style={{ transform: `translateY(${top}px)` }}
        onFocus={() => onFocus(row.id)}
        onClick={passToLink}
      >
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
    one.isCurrent === other.isCurrent,
);

/** A click beside the link, as on a time, counts as one on it, with its keys: a new tab stays a new tab. */
function passToLink(event: MouseEvent<HTMLDivElement>): void {
  if ((event.target as Element).closest("a, button")) return;
  const link = event.currentTarget.querySelector("a");
  link?.dispatchEvent(new window.MouseEvent("click", event.nativeEvent));
}

/** All rows are of one height, that of the letters' size; the one that has the focus stays, wherever one scrolls. */
function useRows(body: React.RefObject<HTMLDivElement | null>, rows: readonly TraceRow[], currentAt: number) {
  const cards = useMedia("(max-width: 1023px)");
  const narrow = useMedia("(max-width: 767px)");
  const [scrollMargin, setScrollMargin] = useState(0);
  const [rem] = useState(() => Number.parseFloat(getComputedStyle(document.documentElement).fontSize));
  const rowPx = rem * (narrow ? cardRem : cards ? wideCardRem : rowRem);
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => rowPx,
    overscan: 10,
    scrollMargin,
    scrollPaddingStart: rowPx * 2,
    scrollPaddingEnd: rowPx,
    rangeExtractor: range => {
      const inSight = defaultRangeExtractor(range);
      if (currentAt < 0 || inSight.includes(currentAt)) return inSight;
      return currentAt < inSight[0]! ? [currentAt, ...inSight] : [...inSight, currentAt];
    },
  });
  useLayoutEffect(() => {
    // Not at every turn: it makes the browser lay out the page at once. A few rows more or less do no harm.
    const look = () => setScrollMargin((body.current?.getBoundingClientRect().top ?? 0) + scrollY);
    look();
    addEventListener("resize", look);
    return () => removeEventListener("resize", look);
  }, [body]);
  useLayoutEffect(() => virtualizer.measure(), [virtualizer, rowPx]);
  return virtualizer;
}

/** Puts the focus on a row's link once it is in the page; first on the row of whoever comes back. */
function useFocusRow(body: React.RefObject<HTMLDivElement | null>, initial: string | undefined) {
  const wanted = useRef(initial);
  const take = () => {
    if (wanted.current === undefined) return;
    const link = body.current?.querySelector<HTMLElement>(`[data-id="${wanted.current}"] a`);
    if (!link) return;
    wanted.current = undefined;
    link.focus({ preventScroll: true });
  };
  useEffect(() => {
    // After the page itself was given the focus, as every new page is.
    const timer = setTimeout(take);
    return () => clearTimeout(timer);
  });
  return (id: string) => {
    wanted.current = id;
    take();
  };
}
