// Integers beyond ±(2^53−1), which are kept as decimal text because a double would alter them.

/** Longer text is not converted: a bigint of millions of digits takes seconds. */
const digitsMax = 1_000;

/** Whether a text is how JSON writes such an integer. */
export function isLongInteger(value: unknown): value is string {
  return typeof value === "string" && /^-?[1-9]\d{15,}$/.test(value) && !Number.isSafeInteger(Number(value));
}

/** The number, or the exact value of such a text, for comparisons; undefined for anything else. */
export function magnitudeOf(value: unknown): number | bigint | undefined {
  if (typeof value === "number") return value;
  return isLongInteger(value) && value.length <= digitsMax ? BigInt(value) : undefined;
}

/** The number that a text is, exactly where it is an integer; undefined if it is none. */
export function numberIn(text: string): number | bigint | undefined {
  const written = text.trim();
  if (written.length > digitsMax || !/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(written))
    return undefined;
  const number = Number(written);
  return Number.isSafeInteger(number) || !/^[+-]?\d+$/.test(written)
    ? number
    : BigInt(written.replace("+", ""));
}

/**
 * Whether two JSON values that are neither lists nor objects are the same. A number of this size, such as 1e20, equals the
 * text that JSON prints for it.
 */
export function isSameScalar(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a === "number") return isLongInteger(b) && String(a) === b;
  return typeof b === "number" && isLongInteger(a) && String(b) === a;
}
