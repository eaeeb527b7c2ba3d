// The span tree with a waterfall, virtualized so that 10,000 spans stay fast, and fully usable by keyboard.
import { useVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type MouseEvent, useEffect, useMemo, useRef } from "react";
import { durationText, numberText } from "../../format.ts";
import { useShortcut } from "../../shell/shortcuts.ts";
import { Icon } from "../../ui/Icon.tsx";
import { toast } from "../../ui/Toast.tsx";
import { useCursor } from "./cursor.ts";
import { useFolds } from "./folds.ts";
import { Minimap } from "./Minimap.tsx";
import { SpanRow } from "./SpanRow.tsx";
import { TreeTools } from "./TreeTools.tsx";
import { useStretch } from "./times.ts";
import {
  findRows,
  indexOfRow,
  nextMarkedRow,
  type Pointed,
  type Tree,
  visibleRows,
  worstInside,
} from "./tree.ts";

export type SpanTreeProps = {
  tree: Tree;
  /** By span id: the checks of the shown evaluation that looked at the span. */
  pointed: Map<string, Pointed>;
  selected: string | undefined;
  find: string;
  onFind: (text: string) => void;
  /** `move`: by an arrow key. */
  onSelect: (spanId: string, how: "click" | "move") => void;
};

const rowPx = 28;

export function SpanTree({ tree, pointed, selected, find, onFind, onSelect }: SpanTreeProps) {
  const { rows, positions } = tree;
  const cursor = useCursor(selected, onSelect);
  const folds = useFolds(tree, cursor.at);
  const found = useMemo(() => findRows(rows, find), [rows, find]);
  const visible = useMemo(() => visibleRows(rows, folds.folded, found), [rows, folds.folded, found]);
  /** The index in `visible` of the row at the cursor, or of the nearest collapsed ancestor. */
  const at = indexOfRow(tree, visible, cursor.at);
  const row = rows[visible[at] ?? -1];

  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: visible.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPx,
    overscan: 10,
  });
  useScrollTo(virtual, at, cursor.at);
  const times = useStretch(tree, row ?? rows[visible[virtual.range?.startIndex ?? 0] ?? -1]);

  const search = useRef<HTMLInputElement>(null);
  useShortcut("/", "Search spans", () => search.current?.focus());
  useShortcut("j", "Next span", () => goTo(at + 1));
  useShortcut("k", "Previous span", () => goTo(at - 1));
  useShortcut("]", "Next failed or checked span", () => jump(1));
  useShortcut("[", "Previous failed or checked span", () => jump(-1));
  useShortcut("f", "Fit timeline", times.fit);
  useShortcut("z", "Zoom to the selected span", times.zoomToRow);

  function goTo(index: number): void {
    const target = visible[Math.min(Math.max(0, index), visible.length - 1)];
    if (target !== undefined) cursor.move(rows[target]!.span.spanId);
  }

  function jump(step: 1 | -1): void {
    const next = nextMarkedRow(tree, pointed, found, { from: positions.get(cursor.at ?? "") ?? -1, step });
    if (next) cursor.move(next.span.spanId);
    else toast("No failed or checked spans");
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / rowPx) - 1);
    const isParent = row !== undefined && row.end > visible[at]! + 1;
    const isFolded = isParent && !found && folds.folded.has(row.span.spanId);
    const moves: Record<string, () => void> = {
      ArrowDown: () => goTo(at + 1),
      ArrowUp: () => goTo(at - 1),
      Home: () => goTo(0),
      End: () => goTo(visible.length - 1),
      PageDown: () => goTo(at + page),
      PageUp: () => goTo(at - page),
      ArrowRight: () => {
        if (isFolded) folds.toggle(row.span.spanId);
        else if (isParent) goTo(at + 1);
      },
      ArrowLeft: () => {
        if (isParent && !isFolded && !found) folds.toggle(row.span.spanId);
        else if (row && row.parent !== -1) cursor.move(rows[row.parent]!.span.spanId);
      },
      Enter: () => row && cursor.choose(row.span.spanId),
    };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    move();
  }

  function onClick(event: MouseEvent): void {
    const target = event.target as Element;
    const item = target.closest<HTMLElement>("[role=treeitem]");
    const clicked = rows[Number(item?.dataset["position"] ?? -1)]?.span.spanId;
    if (clicked === undefined) return;
    if (target.closest(".tree-fold")) folds.toggle(clicked);
    else cursor.choose(clicked);
  }

  return (
    <>
      <TreeTools
        search={search}
        find={find}
        count={(found ? `${numberText(found.size)} of ` : "") + numberText(rows.length)}
        onFind={onFind}
        onJump={jump}
        onUnfoldAll={folds.unfoldAll}
        onFoldAll={folds.foldAll}
        onZoom={times.zoom}
        onFit={times.fit}
        fits={times.stretch === null}
      />
      <Minimap tree={tree} stretch={times.stretch} onStretch={times.show} />
      <TreeHead times={tree.spanMs > 0 ? times.shown : null} />
      {visible.length === 0 && <p className="quiet spans-none">No spans match “{find}”</p>}
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
            const one = rows[position]!;
            const isFolded = one.end > position + 1 ? !found && folds.folded.has(one.span.spanId) : null;
            const inside = isFolded ? worstInside(rows, position, pointed) : undefined;
            return (
              <SpanRow
                key={one.span.spanId}
                row={one}
                position={position}
                top={item.start}
                isFolded={isFolded}
                isActive={one.span.spanId === cursor.at}
                isPassing={found !== null && !found.has(position)}
                hasFailed={inside?.failed ?? one.span.failed}
                outcome={(inside?.pointed ?? pointed.get(one.span.spanId))?.outcome}
                checks={(inside?.pointed ?? pointed.get(one.span.spanId))?.checks ?? 0}
                stretch={times.shown}
              />
            );
          })}
        </div>
      </div>
      {rows.some(({ stray }) => stray !== null) && (
        <p className="spans-note small quiet">
          <Icon name="warning" /> Parent not in the trace
        </p>
      )}
    </>
  );
}

/** `times`: those of the axis; null if the trace has none. */
function TreeHead({ times }: { times: { fromMs: number; toMs: number } | null }) {
  return (
    <div className="tree-head small quiet" aria-hidden="true">
      <span>Span</span>
      <span className="tree-tokens">Tokens</span>
      <span>Duration</span>
      <span className="tree-axis">
        {times && (
          <>
            <span>{durationText(times.fromMs)}</span>
            <span>{durationText(times.toMs)}</span>
          </>
        )}
      </span>
    </div>
  );
}

/** Scrolls only when another span is chosen, not when rows around it change. */
function useScrollTo(
  virtual: Pick<Virtualizer<HTMLDivElement, Element>, "scrollToIndex">,
  at: number,
  spanId: string | undefined,
): void {
  const scrolled = useRef<string>(undefined);
  useEffect(() => {
    if (at === -1 || scrolled.current === spanId) return;
    virtual.scrollToIndex(at, { align: scrolled.current === undefined ? "center" : "auto" });
    scrolled.current = spanId;
  }, [virtual, at, spanId]);
}
