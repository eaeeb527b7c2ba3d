// Truncates a JSON value to a size that a page can show, and reports where and how much was left out.

/** Keys and positions from the outermost value. */
export type Path = (string | number)[];

export type Cut<T> = {
  value: T;
  /** Truncated texts, with their full lengths in characters. */
  cuts: { path: Path; length: number }[];
  /** Lists and objects with entries left out, with their full number of entries. */
  omissions: { path: Path; entries: number }[];
};

const textMax = 4_000;
const entriesMax = 500;
const keyMax = 1_000;
/** In bytes: fewer readable entries are worth more than many empty ones. */
const shareMin = 240;

/**
 * A copy whose JSON text stays near `bytesMax`, with its cuts and omissions. Entries get equal shares; the unused part of
 * a share goes to the next entries, and texts come before lists and objects, so that small values stay complete. Never
 * splits a surrogate pair.
 */
export function truncateValue<T>(value: T, bytesMax: number): Cut<T> {
  const cuts: Cut<T>["cuts"] = [];
  const omissions: Cut<T>["omissions"] = [];
  let left = bytesMax;

  function cutAny(any: unknown, path: Path, share: number): unknown {
    if (typeof any === "string") return cutText(any, path, share);
    if (Array.isArray(any)) return cutList(any, path, share);
    if (isObject(any)) return cutObject(any, path, share);
    left -= 8;
    return any;
  }

  function cutList(list: unknown[], path: Path, share: number): unknown[] {
    const kept: unknown[] = [];
    const taken = walk(list.length, share, (at, part) => kept.push(cutAny(list[at], [...path, at], part)));
    if (taken < list.length) omit(path, list.length);
    return kept;
  }

  function cutObject(object: Record<string, unknown>, path: Path, share: number): Record<string, unknown> {
    const keys = Object.keys(object);
    const short = keys.filter(key => key.length <= keyMax);
    const order = [
      ...short.filter(key => !isObject(object[key])),
      ...short.filter(key => isObject(object[key])),
    ];
    const kept = new Map<string, unknown>();
    const taken = walk(order.length, share, (at, part) => {
      const key = order[at]!;
      left -= jsonBytes(key) + 2;
      kept.set(key, cutAny(object[key], [...path, key], part));
    });
    if (taken < keys.length) omit(path, keys.length);
    // In the original order. `fromEntries`, because an attribute may be called __proto__.
    return Object.fromEntries(short.filter(key => kept.has(key)).map(key => [key, kept.get(key)]));
  }

  /** Calls `take` with each entry's share until the bytes are used up; returns the number of entries taken. */
  function walk(count: number, share: number, take: (at: number, share: number) => void): number {
    const end = Math.max(0, left - share);
    const most = Math.min(count, entriesMax);
    let taken = 0;
    for (; taken < most && left > end; taken++) {
      take(taken, Math.max(shareMin, (left - end) / (most - taken)));
    }
    return taken;
  }

  function cutText(text: string, path: Path, share: number): string {
    const bytesMost = Math.max(share, shareMin / 3);
    let short = text.slice(0, textMax);
    const bytes = jsonBytes(short);
    if (bytes > bytesMost) short = short.slice(0, Math.floor((short.length * bytesMost) / bytes));
    if (short.length < text.length) {
      if (isHighSurrogate(short.charCodeAt(short.length - 1))) short = short.slice(0, -1);
      cuts.push({ path, length: text.length });
      left -= jsonBytes(path) + 24;
    }
    left -= jsonBytes(short);
    return short;
  }

  function omit(path: Path, entries: number): void {
    omissions.push({ path, entries });
    left -= jsonBytes(path) + 24;
  }

  return { value: cutAny(value, [], bytesMax) as T, cuts, omissions };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
