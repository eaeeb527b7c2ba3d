// Where a value stands inside another: by keys and positions, with JSON text on the way read as the JSON it holds.
import { parseExact } from "./exact-json.ts";

export type ValuePath = (string | number)[];

/** What stands there; undefined where nothing does. */
export function valueAt(value: unknown, path: ValuePath): unknown {
  let inner = value;
  for (const key of path) {
    const holder = typeof inner === "string" ? parseExact(inner) : inner;
    if (typeof holder !== "object" || holder === null || !Object.hasOwn(holder, key)) return undefined;
    inner = (holder as Record<string | number, unknown>)[key];
  }
  return inner;
}

/** In the notation of JavaScript: `messages[0].content`. */
export function pathText(path: ValuePath): string {
  const steps = path.map(key => {
    if (typeof key === "number") return `[${key}]`;
    return /^[\w$]+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
  });
  return steps.join("").replace(/^\./, "");
}

export function startsWith(path: ValuePath, start: ValuePath): boolean {
  return start.every((key, at) => path[at] === key);
}
