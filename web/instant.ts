// Times and spans of time in the URL.

/** A time span in ISO 8601: `from` is inclusive, `to` is exclusive. Without one of them, it is open at that end. */
export type Within = { from?: string; to?: string };

/** ISO 8601 in UTC; undefined if the text is not a time. */
export function instantOf(text: string | undefined): string | undefined {
  const time = Date.parse(text ?? "");
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}
