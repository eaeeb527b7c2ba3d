// Widths of panes in percent: their text in storage, and what moving a divider does to them.

export const paneMin = 15;

/** Null if the text is not that of `count` panes that fill the width. */
export function parseWidths(text: string, count: number): number[] | null {
  if (!/^\d+(\.\d)?( \d+(\.\d)?)*$/.test(text)) return null;
  const widths = text.split(" ").map(Number);
  const sum = widths.reduce((total, width) => total + width, 0);
  const fits = widths.length === count && Math.abs(sum - 100) < 1 && widths.every(width => width >= paneMin);
  return fits ? widths : null;
}

export function printWidths(widths: readonly number[]): string {
  return widths.map(width => String(Math.round(width * 10) / 10)).join(" ");
}

/** The least, current and greatest position of the divider behind a pane: only the panes beside it change. */
export function dividerRange(
  widths: readonly number[],
  pane: number,
): { min: number; now: number; max: number } {
  const before = widths.slice(0, pane).reduce((total, width) => total + width, 0);
  const both = widths[pane]! + widths[pane + 1]!;
  return { min: before + paneMin, now: before + widths[pane]!, max: before + both - paneMin };
}

export function moveDivider(widths: readonly number[], pane: number, percent: number): number[] {
  const { min, now, max } = dividerRange(widths, pane);
  const step = Math.min(max, Math.max(min, percent)) - now;
  return widths.map((width, at) => (at === pane ? width + step : at === pane + 1 ? width - step : width));
}
