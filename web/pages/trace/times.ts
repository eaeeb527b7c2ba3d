// The stretch of time that the tree's bars show: all of the trace, or what was zoomed to.

/** Milliseconds since the trace's first moment. */
export type Stretch = { fromMs: number; toMs: number };

/** Where a time stands in the stretch, in percent; below 0 and above 100 it is outside. */
export function percentAt(ms: number, { fromMs, toMs }: Stretch): number {
  return toMs === fromMs ? 0 : ((ms - fromMs) / (toMs - fromMs)) * 100;
}

const shortestMs = 0.001;

/** The stretch scaled around a moment, within the trace; null: all of it. */
export function zoomed(stretch: Stretch, factor: number, aroundMs: number, spanMs: number): Stretch | null {
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
