// Semaphore with FIFO order and timeout.

export class Slots {
  #free: number;
  readonly #waitMs: number;
  readonly #waiting: ((release: () => void) => void)[] = [];

  constructor(count: number, waitMs: number) {
    this.#free = count;
    this.#waitMs = waitMs;
  }

  /** Resolves to the function that gives the place back, or to undefined when none came free in time. */
  take(): Promise<(() => void) | undefined> {
    if (this.#free > 0) {
      this.#free--;
      return Promise.resolve(this.#release());
    }
    return new Promise(resolve => {
      const waiter = (release: () => void) => {
        clearTimeout(timer);
        resolve(release);
      };
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        resolve(undefined);
      }, this.#waitMs);
      this.#waiting.push(waiter);
    });
  }

  /** A function that gives one place back, however often it is called. */
  #release(): () => void {
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const next = this.#waiting.shift();
      if (next) next(this.#release());
      else this.#free++;
    };
  }
}
