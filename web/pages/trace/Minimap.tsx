// A strip with all spans over time and the range that the tree shows. Dragging chooses another range.
import { type PointerEvent, useMemo, useState } from "react";
import { percentAt, type Stretch, within } from "./times.ts";
import type { Row, Tree } from "./tree.ts";

type MinimapProps = { tree: Tree; stretch: Stretch | null; onStretch: (stretch: Stretch | null) => void };

const width = 600;
const lanes = 16;
/** Percent. A shorter drag is a click. */
const dragMin = 1;

/** For the pointer only; the buttons and keys of the tree do the same. */
export function Minimap({ tree, stretch, onStretch }: MinimapProps) {
  const { rows, spanMs } = tree;
  const [drag, setDrag] = useState<{ from: number; to: number } | null>(null);
  const plain = useMemo(() => linesOf(rows, spanMs, false), [rows, spanMs]);
  const failed = useMemo(() => linesOf(rows, spanMs, true), [rows, spanMs]);
  if (spanMs === 0) return null;

  const percentOf = (event: PointerEvent<SVGSVGElement>) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    return Math.min(100, Math.max(0, ((event.clientX - left) / width) * 100));
  };
  const all = { fromMs: 0, toMs: spanMs };
  const chosen = drag
    ? { left: Math.min(drag.from, drag.to), right: Math.max(drag.from, drag.to) }
    : stretch && { left: percentAt(stretch.fromMs, all), right: percentAt(stretch.toMs, all) };

  function drop(): void {
    if (drag && chosen && chosen.right - chosen.left >= dragMin) {
      onStretch(
        within({ fromMs: (chosen.left / 100) * spanMs, toMs: (chosen.right / 100) * spanMs }, spanMs),
      );
    } else if (drag && stretch) {
      const half = (stretch.toMs - stretch.fromMs) / 2;
      const middle = (drag.from / 100) * spanMs;
      onStretch(within({ fromMs: middle - half, toMs: middle + half }, spanMs));
    }
    setDrag(null);
  }

  return (
    <svg
      className="minimap"
      viewBox={`0 0 ${width} ${lanes * 2}`}
      preserveAspectRatio="none"
      aria-hidden="true"
      onPointerDown={event => {
        event.currentTarget.setPointerCapture(event.pointerId);
        setDrag({ from: percentOf(event), to: percentOf(event) });
      }}
      onPointerMove={event => drag && setDrag({ ...drag, to: percentOf(event) })}
      onPointerUp={drop}
      onPointerCancel={() => setDrag(null)}
    >
      <path className="minimap-spans" d={plain} />
      <path className="minimap-failed" d={failed} />
      {chosen && (
        <rect
          className="minimap-stretch"
          x={(chosen.left / 100) * width}
          width={Math.max(1, ((chosen.right - chosen.left) / 100) * width)}
          y="0"
          height={lanes * 2}
        />
      )}
    </svg>
  );
}

/** One SVG path. Spans are merged into `lanes` rows and whole pixels, so its length is bounded. */
function linesOf(rows: Row[], spanMs: number, failed: boolean): string {
  const lines = new Set<string>();
  rows.forEach(({ span, startMs, durationMs }, at) => {
    if (startMs === null || span.failed !== failed || spanMs === 0) return;
    const lane = Math.floor((at / Math.max(rows.length, lanes)) * lanes) * 2 + 1;
    const from = Math.round((startMs / spanMs) * (width - 2));
    const to = Math.max(from + 2, Math.round(((startMs + (durationMs ?? 0)) / spanMs) * width));
    lines.add(`M${from} ${lane}H${to}`);
  });
  return [...lines].join("");
}
