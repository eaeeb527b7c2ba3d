// Virtual table of the test cases: only visible rows are in the DOM; on narrow screens each row is a card.
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import { useShortcut } from "../../shell/shortcuts.ts";
import { Icon } from "../../ui/Icon.tsx";
import { useMedia } from "../../ui/media.ts";
import type { Selection } from "../../ui/selection.ts";
import type { Row, Sort } from "./rows.ts";
import { type TestActions, TestRow } from "./TestRow.tsx";

type TestTableProps = {
  rows: readonly Row[];
  sort: Sort;
  onSort: (sort: Sort) => void;
  selection: Selection;
  actions: TestActions;
};

const narrow = "(max-width: 1099px)";
/** Estimated heights in pixels, until a row is measured. */
const heights = { row: 55, card: 120 };
const cardGap = 12;
/** Keeps the row that j and k reach clear of the window's edges, and of the bar for selected tests. */
const edgePx = 72;

export function TestTable({ rows, sort, onSort, selection, actions }: TestTableProps) {
  const isNarrow = useMedia(narrow);
  const table = useRef<HTMLTableElement>(null);
  const top = useTop(table);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => (isNarrow ? heights.card : heights.row),
    getItemKey: index => rows[index]!.test.id,
    gap: isNarrow ? cardGap : 0,
    overscan: 6,
    scrollMargin: top,
    scrollPaddingStart: edgePx,
    scrollPaddingEnd: edgePx,
  });
  useRowKeys(table, rows, selection, index => virtual.scrollToIndex(index));
  useFocusAfterDelete(table, rows.length);
  const items = virtual.getVirtualItems();
  const above = (items[0]?.start ?? top) - top;
  const below = virtual.getTotalSize() - ((items.at(-1)?.end ?? top) - top);
  const heading = { sort, onSort };
  return (
    <div className="table-wrap">
      <table ref={table} className="table tests" aria-rowcount={rows.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            <th scope="col" className="tests-select">
              <SelectAll selection={selection} />
            </th>
            <SortHeading by="name" {...heading}>
              Name
            </SortHeading>
            <th scope="col">Passive behavior</th>
            <SortHeading by="last" {...heading}>
              Last verdict
            </SortHeading>
            <th scope="col">Last 30 days</th>
            <SortHeading by="rate" {...heading}>
              Pass rate
            </SortHeading>
            <th scope="col">
              <span className="unseen">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {above > 0 && <Space height={above} />}
          {items.map(({ index, key }) => (
            <TestRow
              key={key}
              ref={virtual.measureElement}
              index={index}
              row={rows[index]!}
              selection={selection}
              actions={actions}
            />
          ))}
          {below > 0 && <Space height={below} />}
        </tbody>
      </table>
    </div>
  );
}

/** Takes the height of the rows that are not rendered. */
function Space({ height }: { height: number }) {
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: nothing in it takes the focus.
    <tr className="tests-space" aria-hidden="true">
      <td style={{ height }} />
    </tr>
  );
}

function SelectAll({ selection }: { selection: Selection }) {
  const { all, some } = selection;
  return (
    <input
      type="checkbox"
      aria-label="Select all"
      checked={all}
      ref={box => {
        if (box) box.indeterminate = some && !all;
      }}
      onChange={() => selection.chooseAll(!all)}
    />
  );
}

type SortHeadingProps = { by: Sort & string; sort: Sort; onSort: (sort: Sort) => void; children: ReactNode };

/** Sorts ascending, then descending; the third press returns to newest first. */
function SortHeading({ by, sort, onSort, children }: SortHeadingProps) {
  const down = `-${by}` as Sort;
  const next = sort === by ? down : sort === down ? "newest" : by;
  const state = sort === by ? "ascending" : sort === down ? "descending" : undefined;
  return (
    <th scope="col" aria-sort={state}>
      <button type="button" className="tests-sort" data-sort={state} onClick={() => onSort(next)}>
        {children}
        <Icon name="chevron" />
      </button>
    </th>
  );
}

/** The offset of the first row from the top of the document. */
function useTop(table: { current: HTMLTableElement | null }): number {
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const body = table.current?.tBodies[0]?.getBoundingClientRect();
    if (body) setTop(Math.round(body.top + scrollY));
  });
  return top;
}

function nameAt(table: HTMLTableElement | null, index: number): HTMLElement | undefined {
  return table?.querySelector<HTMLElement>(`tr[data-index="${index}"] th a`) ?? undefined;
}

/** When the focused row is deleted, focuses the row that takes its place. */
function useFocusAfterDelete(table: { current: HTMLTableElement | null }, count: number): void {
  const before = useRef({ index: 0, count });
  useEffect(() => {
    const root = table.current;
    const onFocus = ({ target }: FocusEvent) => {
      const row = target instanceof Element && target.closest<HTMLElement>("tr[data-index]");
      if (row) before.current.index = Number(row.dataset["index"]);
    };
    root?.addEventListener("focusin", onFocus);
    return () => root?.removeEventListener("focusin", onFocus);
  }, [table]);
  useEffect(() => {
    const { index, count: earlier } = before.current;
    before.current.count = count;
    // When a focused row is removed, the browser moves the focus to an ancestor of the table.
    if (count >= earlier || !document.activeElement?.contains(table.current)) return;
    nameAt(table.current, Math.min(index, count - 1))?.focus({ preventScroll: true });
  }, [table, count]);
}

/** j and k focus the next and previous name, where Enter opens it; x selects. */
function useRowKeys(
  table: { current: HTMLTableElement | null },
  rows: readonly Row[],
  selection: Selection,
  show: (index: number) => void,
): void {
  const currentIndex = () => {
    const row = document.activeElement?.closest<HTMLElement>("tr[data-index]");
    return row && table.current?.contains(row) ? Number(row.dataset["index"]) : undefined;
  };
  const go = (step: number) => {
    const from = currentIndex();
    const index = from === undefined ? 0 : Math.min(Math.max(from + step, 0), rows.length - 1);
    show(index);
    const name = nameAt(table.current, index);
    // A rendered row is focused immediately, so that fast typing works; another one is rendered in the next frame.
    // WebKit would show no focus ring after a click.
    const focus = (name: HTMLElement | undefined) => name?.focus({ focusVisible: true });
    if (name) focus(name);
    else requestAnimationFrame(() => focus(nameAt(table.current, index)));
  };
  useShortcut("j", "Next test case", () => go(1));
  useShortcut("k", "Previous test case", () => go(-1));
  useShortcut("x", "Select test case", () => {
    const row = rows[currentIndex() ?? -1];
    if (row) selection.choose(row.test.id, !selection.has(row.test.id), false);
  });
}
