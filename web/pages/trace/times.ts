// The stretch of time that the tree's bars show: all of the trace, or what was zoomed to.
import { useMemo, useState } from "react";
import type { Row, Tree } from "./tree.ts";

/** Milliseconds since the trace's first moment. */
export type Stretch = { fromMs: number; toMs: number };

/** Where a time stands in the stretch, in percent; below 0 and above 100 it is outside. */
export function percentAt(ms: number, { fromMs, toMs }: Stretch): number {
  return toMs === fromMs ? 0 : ((ms - fromMs) / (toMs - fromMs)) * 100;
}

const shortestMs = 0.001;

type Zoom = {
  /** Null: all of the trace. */
  stretch: Stretch | null;
  shown: Stretch;
  show: (stretch: Stretch | null) => void;
  fit: () => void;
  /** Around the row, where that is in sight. */
  zoom: (factor: number) => void;
  zoomToRow: () => void;
};

/** `row`: the one that is looked at. */
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
      const inSight = around >= shown.fromMs && around <= shown.toMs;
      setStretch(zoomed(shown, factor, inSight ? around : middle, spanMs));
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

/** The stretch moved into the trace; null where it holds all of it. */
export function within({ fromMs, toMs }: Stretch, spanMs: number): Stretch | null {
  const length = toMs - fromMs;
  if (length >= spanMs) return null;
  const from = Math.min(Math.max(0, fromMs), spanMs - length);
  return { fromMs: from, toMs: from + length };
}
