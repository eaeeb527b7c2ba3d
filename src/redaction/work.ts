// The budget of redaction, in characters times rules.

/** Of a whole body: two seconds of a core, where nothing is slower than usual. */
export const workMax = 400_000_000;

/** In case something is: far more than any body takes whose texts were not made to be slow. */
const msMax = 30_000;

/**
 * What is left to spend. The same body under the same rules spends the same, so what is left unchecked is the same, too: only
 * the deadline, which nothing should reach, depends on the machine.
 */
export class Work {
  left: number;
  /** Of `performance.now()`. */
  readonly deadline = performance.now() + msMax;

  constructor(max: number) {
    this.left = max;
  }

  /** False, and nothing is spent, if there is not this much left. */
  spend(units: number): boolean {
    if (units > this.left) return false;
    this.left -= units;
    return true;
  }
}
