// Where a field stands in a document, in the notation of JavaScript: `assertions[1].pattern`.

/** The path of a field from the top of its document. */
export function pathText(keys: PropertyKey[]): string {
  return keys.map(step).join("").replace(/^\./, "");
}

/** One step down: `.name`, `[3]` or `["a name"]`. */
export function step(key: PropertyKey): string {
  if (typeof key === "number") return `[${key}]`;
  return /^[\w$]+$/.test(String(key)) ? `.${String(key)}` : `[${JSON.stringify(String(key))}]`;
}

/** Whether a value is nested at most this many levels deep. Recursion is safe: it ends after as many steps. */
export function isWithin(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every(item => isWithin(item, levels - 1));
}
