// The length of a duration's bar in the list of traces.

/** Percent of the slowest, from 1 to 100. The scale is linear, so that a trace twice as slow has a bar twice as long. */
export function durationShare(ms: number, slowestMs: number): number {
  if (slowestMs <= 0) return 1;
  return Math.min(100, Math.max(1, Math.round((ms / slowestMs) * 100)));
}

/** The longest duration of the rows; 0 if none is known. */
export function slowestOf(rows: readonly { durationMs: number | null }[]): number {
  return rows.reduce((slowest, { durationMs }) => Math.max(slowest, durationMs ?? 0), 0);
}
