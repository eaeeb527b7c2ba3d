// The budget of redaction, in characters times rules.

/** Of a whole body: a second or two of a core. */
export const workMax = 400_000_000;

/** What is left to spend. The same body under the same rules spends the same, so what is left unchecked is the same, too. */
export class Work {
  left: number;

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
