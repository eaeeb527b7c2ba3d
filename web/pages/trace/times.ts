// The time range that the tree's bars show: the whole trace or a zoomed part.
import { useMemo, useState } from "react";
import type { Row, Tree } from "./tree.ts";

/** Milliseconds since the trace's first moment. */
export type Stretch = { fromMs: number; toMs: number };

/** The position of a time in the range, in percent; outside it is below 0 or above 100. */
export function percentAt(ms: number, { fromMs, toMs }: Stretch): number {
  return toMs === fromMs ? 0 : ((ms - fromMs) / (toMs - fromMs)) * 100;
}

const shortestMs = 0.001;

type Zoom = {
  /** Null: the whole trace. */
  stretch: Stretch | null;
  shown: Stretch;
  show: (stretch: Stretch | null) => void;
  fit: () => void;
  /** Around the row, if it is in the range. */
  zoom: (factor: number) => void;
  zoomToRow: () => void;
};

/** `row`: the one at the cursor. */
export function useStretch({ spanMs }: Tree, row: Row | undefined): Zoom {
  const [stretch, setStretch] = useState<Stretch | null>(null);
  const shown = useMemo(() => stretch ?? { fromMs: 0, toMs: spanMs }, [stretch, spanMs]);
  return {
    stretch,
    shown,
    show: setStretch,
    fit: () => setStretch(null),
    zoom(factor) {
      const middle = (shown.fromMs + shown.toMs) / 2;
      const around = row?.startMs == null ? middle : row.startMs + (row.durationMs ?? 0) / 2;
      const isInRange = around >= shown.fromMs && around <= shown.toMs;
      setStretch(zoomed(shown, factor, isInRange ? around : middle, spanMs));
    },
    zoomToRow() {
      if (row?.startMs == null || row.durationMs === null) return;
      const margin = Math.max(row.durationMs * 0.1, spanMs / 10_000);
      const end = row.startMs + row.durationMs;
      setStretch(within({ fromMs: row.startMs - margin, toMs: end + margin }, spanMs));
    },
  };
}

function zoomed(stretch: Stretch, factor: number, aroundMs: number, spanMs: number): Stretch | null {
  const length = Math.max(shortestMs, (stretch.toMs - stretch.fromMs) * factor);
  return within({ fromMs: aroundMs - length / 2, toMs: aroundMs + length / 2 }, spanMs);
}

/** The range shifted into the trace; null if it covers the whole trace. */
export function within({ fromMs, toMs }: Stretch, spanMs: number): Stretch | null {
  const length = toMs - fromMs;
  if (length >= spanMs) return null;
  const from = Math.min(Math.max(0, fromMs), spanMs - length);
  return { fromMs: from, toMs: from + length };
}
