// Truncates texts to a number of characters, with an ellipsis.

/** The beginning of a text, never ending in half a surrogate pair. */
export function shorten(text: string, max: number): string {
  if (text.length <= max) return text;
  const head = text.slice(0, max - 1);
  return `${/[\uD800-\uDBFF]$/.test(head) ? head.slice(0, -1) : head}…`;
}
