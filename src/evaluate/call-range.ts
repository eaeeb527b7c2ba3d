// How often something may be called: between min and max, both included.

type CallRange = { min: number; max?: number };

export function isInRange(count: number, { min, max }: CallRange): boolean {
  return count >= min && (max === undefined || count <= max);
}

/** The range alone, of an assertion that has one. */
export function rangeOf({ min, max }: CallRange): CallRange {
  return max === undefined ? { min } : { min, max };
}
