// What the evaluation of one trace may use: steps of comparing values on its thread, and time in the sandbox.

/** Steps of one evaluation. A step takes about 50 ns, so all of them take about a second. */
export const stepsMax = 20_000_000;

const stepsPerMs = 20_000;

/** Sandbox time of one evaluation. */
export const sandboxMsMax = 5_000;

/** The rest of the budget does not suffice. The check is skipped. */
export class BudgetSpent extends Error {
  override name = "BudgetSpent";
}

export class RunBudget {
  stepsLeft: number;
  sandboxMsLeft: number = sandboxMsMax;

  constructor(steps: number = stepsMax) {
    this.stepsLeft = steps;
  }

  /** Call it before the work. Throws BudgetSpent, and then takes nothing: a smaller check may still be made. */
  spend(steps: number): void {
    if (steps > this.stepsLeft) throw new BudgetSpent();
    this.stepsLeft -= steps;
  }

  /** For work whose steps are known only by the time it took, such as a search. Throws BudgetSpent if none are left. */
  timed<T>(work: () => T): T {
    this.spend(1);
    const begun = performance.now();
    try {
      return work();
    } finally {
      this.stepsLeft = Math.max(0, this.stepsLeft - (performance.now() - begun) * stepsPerMs);
    }
  }
}
