// Values and counts within a sentence about a check.

/** "once", "twice", "1,200 times". */
export function times(count: number): string {
  return count === 1 ? "once" : count === 2 ? "twice" : `${number.format(count)} times`;
}

/** A value as JSON, for a line of text. */
export function inline(value: unknown, max = 80): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > max ? `${text.slice(0, max - 1)}…` : text;
}

export const number = new Intl.NumberFormat("en", { maximumFractionDigits: 3 });
