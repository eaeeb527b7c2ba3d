// The loop of whoever claims runs: looks again at once where there may be more, else after a pause that a wake cuts short.
import type { Logger } from "pino";
import { isTransient } from "./store/db.ts";

const faultPauseMs = 1_000;

type ClaimingDeps = {
  /** Claims what there is room for; resolves to the ms after which to look again. */
  claim: () => Promise<number>;
  /** Told what kept it from claiming. */
  onFault: (error: unknown) => void;
};

export class Claiming {
  readonly #deps: ClaimingDeps;
  /** Whether `wake` was called since the loop last began to look: what came while it looked is not missed. */
  #woken = false;
  #endPause: () => void = () => {};
  #stopping = false;
  readonly #loop: Promise<void>;

  constructor(deps: ClaimingDeps) {
    this.#deps = deps;
    this.#loop = this.#run();
  }

  /** There may be something to claim, or room for more. */
  wake(): void {
    this.#woken = true;
    this.#endPause();
  }

  /** Resolves once nothing further is claimed. */
  stop(): Promise<void> {
    this.#stopping = true;
    this.wake();
    return this.#loop;
  }

  /** Resolves after so many ms; at once where it was woken since it last looked, or is woken meanwhile. */
  pause(ms: number): Promise<void> {
    if (this.#woken) return Promise.resolve();
    return new Promise(resolve => {
      const timer = setTimeout(resolve, ms);
      this.#endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      this.#woken = false;
      const pauseMs = await this.#deps.claim().catch(error => {
        this.#deps.onFault(error);
        return faultPauseMs;
      });
      if (pauseMs > 0) await this.pause(pauseMs);
    }
  }
}

/** A database that is away is no bug, and says so in one line. */
export function logFault(log: Logger, error: unknown, what: string, about: object = {}): void {
  if (isTransient(error)) log.warn({ ...about, err: (error as Error).message }, `${what}: no database`);
  else log.error({ ...about, err: error }, what);
}
