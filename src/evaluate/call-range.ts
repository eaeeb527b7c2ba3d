// How often something may be called: between min and max, both included.

type CallRange = { min: number; max?: number };

export function isInRange(count: number, { min, max }: CallRange): boolean {
  return count >= min && (max === undefined || count <= max);
}

/** For a sentence: "at least 1", "at most 3", "exactly 2", "2 to 4". */
export function rangeText({ min, max }: CallRange): string {
  if (max === undefined) return `at least ${min}`;
  if (max === min) return `exactly ${min}`;
  return min === 0 ? `at most ${max}` : `${min} to ${max}`;
}
