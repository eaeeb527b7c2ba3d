// Paths of fields in JavaScript notation: `assertions[1].pattern`.

/** The path of a field from the root of its document. */
export function pathText(keys: PropertyKey[]): string {
  return keys.map(step).join("").replace(/^\./, "");
}

/** One path segment: `.name`, `[3]` or `["a name"]`. */
export function step(key: PropertyKey): string {
  if (typeof key === "number") return `[${key}]`;
  return /^[\w$]+$/.test(String(key)) ? `.${String(key)}` : `[${JSON.stringify(String(key))}]`;
}

/** Whether a value is nested at most `levels` deep, which also bounds the recursion. */
export function isWithin(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every(item => isWithin(item, levels - 1));
}
