// Path to a value within another, by keys and positions; JSON text along the path is parsed.
import { parseExact } from "./exact-json.ts";

export type ValuePath = (string | number)[];

/** The value at the path, or undefined. */
export function valueAt(value: unknown, path: ValuePath): unknown {
  let inner = value;
  for (const key of path) {
    const holder = typeof inner === "string" ? parseExact(inner) : inner;
    if (typeof holder !== "object" || holder === null || !Object.hasOwn(holder, key)) return undefined;
    inner = (holder as Record<string | number, unknown>)[key];
  }
  return inner;
}

/** JavaScript notation: `messages[0].content`. */
export function pathText(path: ValuePath): string {
  return path.map(stepText).join("").replace(/^\./, "");
}

/** One step: `.name`, `[3]` or `["a name"]`. */
export function stepText(key: string | number): string {
  if (typeof key === "number") return `[${key}]`;
  return /^[\w$]+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

export function startsWith(path: ValuePath, start: ValuePath): boolean {
  return start.every((key, at) => path[at] === key);
}
