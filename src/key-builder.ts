// Gives large tables from before their keys with the agent, in the background: in one process at a time.
import type { Logger } from "pino";
import { ClaimLoop, logFault } from "./claiming.ts";
import type { Database } from "./store/db.ts";
import { hasPendingKeys, settleLargeKeys } from "./store/keys.ts";

export type KeyBuilderDeps = {
  db: Database;
  /** Where sessions last: the lock of the process that works is one of a session. */
  directUrl: string;
  log: Logger;
  /** Between two attempts, while the agents of batches are filled. */
  pauseMs?: number;
};

const pauseMsDefault = 10_000;

export class KeyBuilder {
  readonly #deps: KeyBuilderDeps;
  readonly #abort = new AbortController();
  readonly #loop: ClaimLoop;

  constructor(deps: KeyBuilderDeps) {
    this.#deps = deps;
    this.#loop = new ClaimLoop({
      claim: () => this.#round(),
      onFault: error => logFault(deps.log, error, "a key cannot be prepared"),
    });
  }

  /** An index that is being built is built anew by whoever comes next. */
  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#loop.stop();
  }

  async #round(): Promise<number> {
    const { db, directUrl, log, pauseMs = pauseMsDefault } = this.#deps;
    const { signal } = this.#abort;
    if (!signal.aborted && (await hasPendingKeys(db))) await settleLargeKeys(directUrl, log, signal);
    return pauseMs;
  }
}
