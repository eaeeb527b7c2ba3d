// The tree of spans with their bars on an axis of time: worked by keyboard, and as quick with 10,000 spans as with ten.
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type MouseEvent, useEffect, useMemo, useRef, useState } from "react";
import { useShortcut } from "../../shell/shortcuts.ts";
import { Icon } from "../../ui/Icon.tsx";
import { toast } from "../../ui/Toast.tsx";
import { Minimap } from "./Minimap.tsx";
import { SpanRow } from "./SpanRow.tsx";
import { TreeTools } from "./TreeTools.tsx";
import { type Stretch, within, zoomed } from "./times.ts";
import { findRows, type Pointed, type Row, type Tree, visibleRows } from "./tree.ts";
import { durationText, numberText } from "./words.ts";

type SpanTreeProps = {
  tree: Tree;
  /** What the checks of the shown run that looked at a span came to. */
  pointed: Map<string, Pointed>;
  selected: string | undefined;
  find: string;
  onFind: (text: string) => void;
  /** `move`: in passing, by an arrow. */
  onSelect: (spanId: string, how: "click" | "move") => void;
};

const rowPx = 28;
/** Who holds an arrow down does not read every span on the way. */
const restMs = 120;

export function SpanTree({ tree, pointed, selected, find, onFind, onSelect }: SpanTreeProps) {
  const { rows, positions, spanMs } = tree;
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const [stretch, setStretch] = useState<Stretch | null>(null);
  const [cursor, moveCursor] = useCursor(selected, spanId => onSelect(spanId, "move"));
  const found = useMemo(() => findRows(rows, find), [rows, find]);
  const visible = useMemo(() => visibleRows(rows, folded, found), [rows, folded, found]);
  const shown = useMemo(() => stretch ?? { fromMs: 0, toMs: spanMs }, [stretch, spanMs]);
  const at = cursor === undefined ? -1 : visible.indexOf(positions.get(cursor) ?? -1);

  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: visible.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPx,
    overscan: 10,
  });
  useUnfolding(tree, cursor, setFolded);
  // Into view when another span is meant, not when rows come or go around it.
  const scrolled = useRef<string>(undefined);
  useEffect(() => {
    if (at === -1 || scrolled.current === cursor) return;
    virtual.scrollToIndex(at, { align: scrolled.current === undefined ? "center" : "auto" });
    scrolled.current = cursor;
  }, [virtual, at, cursor]);

  const search = useRef<HTMLInputElement>(null);
  useShortcut("/", "Search the spans", () => search.current?.focus());
  useShortcut("j", "Next span", () => goTo(at + 1));
  useShortcut("k", "Previous span", () => goTo(at - 1));
  useShortcut("]", "Next span that failed or that a check points to", () => jump(1));
  useShortcut("[", "Previous span that failed or that a check points to", () => jump(-1));
  useShortcut("f", "Fit all times into the tree", () => setStretch(null));
  useShortcut("z", "Zoom the times to the selected span", zoomToSelected);

  function goTo(index: number): void {
    const target = visible[Math.min(Math.max(0, index), visible.length - 1)];
    if (target !== undefined) moveCursor(rows[target]!.span.spanId);
  }

  function jump(step: 1 | -1): void {
    const calls = ({ span }: Row) => span.failed || pointed.has(span.spanId);
    const candidates = rows.flatMap((row, position) =>
      calls(row) && (!found || found.has(position)) ? [position] : [],
    );
    if (candidates.length === 0) {
      toast("No span failed, and no check points to one.");
      return;
    }
    const here = cursor === undefined ? -1 : (positions.get(cursor) ?? -1);
    const next =
      step === 1
        ? (candidates.find(position => position > here) ?? candidates[0]!)
        : (candidates.findLast(position => position < here) ?? candidates.at(-1)!);
    moveCursor(rows[next]!.span.spanId);
  }

  function zoomToSelected(): void {
    const row = rows[positions.get(cursor ?? "") ?? -1];
    if (row?.startMs == null || row.durationMs === null) return;
    const margin = Math.max(row.durationMs * 0.1, spanMs / 10_000);
    setStretch(within({ fromMs: row.startMs - margin, toMs: row.startMs + row.durationMs + margin }, spanMs));
  }

  function zoom(factor: number): void {
    const row = rows[positions.get(cursor ?? "") ?? visible[virtual.range?.startIndex ?? 0] ?? -1];
    const middle = (shown.fromMs + shown.toMs) / 2;
    const around = row?.startMs == null ? middle : row.startMs + (row.durationMs ?? 0) / 2;
    const inView = around >= shown.fromMs && around <= shown.toMs;
    setStretch(zoomed(shown, factor, inView ? around : middle, spanMs));
  }

  const fold = (spanId: string, isFolded: boolean) =>
    setFolded(before => {
      const after = new Set(before);
      if (isFolded) after.add(spanId);
      else after.delete(spanId);
      return after;
    });
  const foldAll = () =>
    setFolded(new Set(rows.filter((row, index) => row.end > index + 1).map(({ span }) => span.spanId)));

  function onKeyDown(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const position = visible[at];
    const row = position === undefined ? undefined : rows[position];
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / rowPx) - 1);
    const hasRows = row !== undefined && row.end > position! + 1;
    const isFolded = row !== undefined && !found && folded.has(row.span.spanId);
    const moves: Record<string, () => void> = {
      ArrowDown: () => goTo(at + 1),
      ArrowUp: () => goTo(at - 1),
      Home: () => goTo(0),
      End: () => goTo(visible.length - 1),
      PageDown: () => goTo(at + page),
      PageUp: () => goTo(at - page),
      ArrowRight: () => {
        if (isFolded) fold(row.span.spanId, false);
        else if (hasRows) goTo(at + 1);
      },
      ArrowLeft: () => {
        if (hasRows && !isFolded && !found) fold(row.span.spanId, true);
        else if (row && row.parent !== -1) moveCursor(rows[row.parent]!.span.spanId);
      },
      Enter: () => row && onSelect(row.span.spanId, "click"),
      "*": () => setFolded(new Set()),
    };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    move();
  }

  function onClick(event: MouseEvent): void {
    const target = event.target as Element;
    const item = target.closest<HTMLElement>("[role=treeitem]");
    const row = rows[Number(item?.dataset["position"] ?? -1)];
    if (!row) return;
    if (target.closest(".tree-fold")) fold(row.span.spanId, !folded.has(row.span.spanId));
    else onSelect(row.span.spanId, "click");
  }

  return (
    <>
      <TreeTools
        search={search}
        find={find}
        told={(found ? `${numberText(found.size)} of ` : "") + numberText(rows.length)}
        onFind={onFind}
        onJump={jump}
        onUnfoldAll={() => setFolded(new Set())}
        onFoldAll={foldAll}
        onZoom={zoom}
        onFit={() => setStretch(null)}
        fits={stretch === null}
      />
      <Minimap tree={tree} stretch={stretch} onStretch={setStretch} />
      <div className="tree-head small quiet" aria-hidden="true">
        <span>Span</span>
        <span>Duration</span>
        <span className="tree-axis">
          <span>{durationText(shown.fromMs)}</span>
          <span>{durationText(shown.toMs)}</span>
        </span>
      </div>
      {visible.length === 0 && <p className="quiet spans-none">No span’s name or id holds “{find}”.</p>}
      <div
        ref={scroller}
        className="tree"
        role="tree"
        tabIndex={0}
        aria-label="Spans"
        {...(at !== -1 && { "aria-activedescendant": `span-${visible[at]}` })}
        onKeyDown={onKeyDown}
        onClick={onClick}
      >
        <div role="none" className="tree-rows" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(item => {
            const position = visible[item.index]!;
            const row = rows[position]!;
            return (
              <SpanRow
                key={row.span.spanId}
                row={row}
                position={position}
                top={item.start}
                isFolded={row.end > position + 1 ? !found && folded.has(row.span.spanId) : null}
                isActive={item.index === at}
                isPassing={found !== null && !found.has(position)}
                pointed={pointed.get(row.span.spanId)}
                stretch={shown}
              />
            );
          })}
        </div>
      </div>
      {rows.some(({ stray }) => stray !== null) && (
        <p className="spans-note small quiet">
          <Icon name="warning" /> marks a span whose parent is not in the trace.
        </p>
      )}
    </>
  );
}

/** The span the keyboard is at: what is selected, and until it rests what is passed on the way. */
function useCursor(
  selected: string | undefined,
  rest: (spanId: string) => void,
): [cursor: string | undefined, move: (spanId: string) => void] {
  const [cursor, setCursor] = useState(selected);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const latest = useRef(rest);
  useEffect(() => {
    latest.current = rest;
  });
  useEffect(() => {
    clearTimeout(timer.current);
    setCursor(selected);
  }, [selected]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return [
    cursor,
    spanId => {
      setCursor(spanId);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => latest.current(spanId), restMs);
    },
  ];
}

/** What is meant can be seen: nothing it hangs from stays folded. */
function useUnfolding(
  tree: Tree,
  cursor: string | undefined,
  setFolded: (change: (before: ReadonlySet<string>) => ReadonlySet<string>) => void,
): void {
  const latest = useRef(tree);
  useEffect(() => {
    latest.current = tree;
  });
  useEffect(() => {
    const { rows, positions } = latest.current;
    const position = positions.get(cursor ?? "");
    if (position === undefined) return;
    setFolded(before => {
      const after = new Set(before);
      for (let at = rows[position]!.parent; at !== -1; at = rows[at]!.parent)
        after.delete(rows[at]!.span.spanId);
      return after.size === before.size ? before : after;
    });
  }, [cursor, setFolded]);
}
