// The loop that claims runs: polls again immediately if more may be due, else after a pause that `wake` ends early.
import type { Logger } from "pino";
import { errorText } from "./log/error-text.ts";
import { leftOutBefore } from "./log/repeats.ts";
import { type Database, isTransient } from "./store/db.ts";

const faultPauseMs = 1_000;

type ClaimLoopDeps = {
  /** Claims as many runs as the caller can take; resolves to the ms until the next poll. */
  claim: () => Promise<number>;
  /** Called when `claim` rejects. */
  onFault: (error: unknown) => void;
};

export class ClaimLoop {
  readonly #deps: ClaimLoopDeps;
  /** Whether `wake` was called since the last poll began, so that runs added during a poll are not missed. */
  #woken = false;
  #endPause: () => void = () => {};
  #stopping = false;
  readonly #loop: Promise<void>;

  constructor(deps: ClaimLoopDeps) {
    this.#deps = deps;
    this.#loop = this.#run();
  }

  /** Call when runs may be due, or when the caller can take more. */
  wake(): void {
    this.#woken = true;
    this.#endPause();
  }

  /** Resolves when the loop has ended. */
  stop(): Promise<void> {
    this.#stopping = true;
    this.wake();
    return this.#loop;
  }

  /** Resolves after `ms`, or on `wake`; immediately if `wake` was called since the last poll began. */
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

/** Logs an unavailable database as a warning of one line, since it is not a bug; the same again once a minute. */
export function logFault(log: Logger, error: unknown, what: string, about: object = {}): void {
  if (isTransient(error)) warn(log, error, `${what}: database unavailable`, about);
  else log.error({ ...about, err: error }, what);
}

/** The same for work on all agents, which goes on for the others while a worker of a cluster is unavailable. */
export async function logFaultOfAgents(
  { log, db }: { log: Logger; db: Database },
  error: unknown,
  what: string,
): Promise<void> {
  const asked = isTransient(error) ? db.places?.findUnavailable() : undefined;
  const { workers, of } = (await asked?.catch(() => undefined)) ?? { workers: [], of: 0 };
  if (workers.length === 0 || workers.length === of) return logFault(log, error, what);
  warn(log, error, `${what} for some agents: worker of the cluster unavailable`, { workers });
}

function warn(log: Logger, error: unknown, text: string, about: object): void {
  const err = errorText(error);
  const more = leftOutBefore(log, `${text} ${err} ${JSON.stringify(about)}`);
  const line = { ...about, err, ...(more && { more }) };
  log[more === undefined ? "debug" : "warn"](line, text);
}
