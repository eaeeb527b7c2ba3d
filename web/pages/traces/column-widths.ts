// Widths of the columns of the list of traces, in rem: their text in storage, and their limits.

/** By column id; columns without one have their default. */
export type ColumnWidths = Readonly<Record<string, number>>;

export const widthMin = 2.5;
export const widthMax = 40;

const one = /^([A-Za-z-]+)=(\d{1,2}(?:\.\d{1,2})?)$/;

/** Undefined for a text that `printWidths` would not write. */
export function parseWidths(text: string): ColumnWidths | undefined {
  if (text === "") return {};
  const pairs = text.split(",").map(part => one.exec(part));
  if (!pairs.every(pair => pair !== null)) return undefined;
  const widths = pairs.map(([, id, width]) => [id!, Number(width)] as const);
  if (widths.some(([, width]) => width !== clampWidth(width))) return undefined;
  return Object.fromEntries(widths);
}

export function printWidths(widths: ColumnWidths): string {
  return Object.entries(widths)
    .map(([id, width]) => `${id}=${Math.round(width * 100) / 100}`)
    .join();
}

export function clampWidth(rem: number): number {
  return Math.min(widthMax, Math.max(widthMin, rem));
}
