// Reads the ID of a user or a conversation, which some senders write as an integer.

/** The text of an ID, or the digits of an integer; null for anything else, and for a blank text. */
export function idText(value: unknown): string | null {
  if (typeof value === "string") return /\S/.test(value) ? value : null;
  return Number.isSafeInteger(value) ? String(value) : null;
}
