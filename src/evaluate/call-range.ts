// How often something may be called: between min and max, both included.

type CallRange = { min: number; max?: number };

export function isInRange(count: number, { min, max }: CallRange): boolean {
  return count >= min && (max === undefined || count <= max);
}

/** Whether this many more calls, or fewer, could take the count into the range or out of it. */
export function couldChange(
  count: number,
  { min, max }: CallRange,
  more: number = Number.POSITIVE_INFINITY,
): boolean {
  if (count < min) return count + more >= min;
  return max !== undefined && count <= max && count + more > max;
}

/** The range alone, of an assertion that has one. */
export function rangeOf({ min, max }: CallRange): CallRange {
  return max === undefined ? { min } : { min, max };
}
