// Works on erasures in the background: by turns, one part at a time, under a lease that another process takes over.
import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import { ClaimLoop, logFault } from "./claiming.ts";
import { type ErasureWork, endOf, partOf } from "./eraser/steps.ts";
import { notSearched, storedValues } from "./model/erasure.ts";
import { Refusal } from "./model/refusal.ts";
import { type Database, isTransient } from "./store/db.ts";
import {
  type ClaimedErasure,
  claimErasure,
  deleteOldDryRuns,
  endErasure,
  extendErasure,
  type Holder,
  moveErasure,
  postponeErasure,
  releaseErasure,
  yieldErasure,
} from "./store/erasures/claims.ts";
import { listPseudonyms } from "./store/erasures/pseudonyms.ts";
import { openSealed } from "./store/erasures.ts";
import { unreadableSecret, type Vault } from "./store/secrets/vault.ts";

export type EraserDeps = {
  db: Database;
  vault: Vault;
  /** What reads traces and rewrites texts, on a thread. */
  work: ErasureWork;
  log: Logger;
  leaseMs?: number;
};

const leaseMsDefault = 30_000;
const idleMaxMs = 5_000;
const cleanUpMs = 60_000;
const attemptsMax = 5;
const retryMs = 5_000;

export class Eraser {
  readonly #deps: EraserDeps;
  readonly #leaseMs: number;
  readonly #abort = new AbortController();
  readonly #loop: ClaimLoop;
  #cleanUpAt = 0;
  #continuesAt = Number.NEGATIVE_INFINITY;

  constructor(deps: EraserDeps) {
    this.#deps = deps;
    this.#leaseMs = deps.leaseMs ?? leaseMsDefault;
    this.#loop = new ClaimLoop({
      claim: () => this.#work(),
      onFault: error =>
        logFault(deps.log, isTransient(error) ? error : unsaid(error), "erasures cannot be claimed"),
    });
  }

  /** Call it when there is a new erasure. */
  wake(): void {
    this.#loop.wake();
  }

  /** Breaks off the part in hand, which another process or the next start repeats. */
  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#loop.stop();
  }

  async #work(): Promise<number> {
    const { db } = this.#deps;
    if (performance.now() >= this.#cleanUpAt) {
      await deleteOldDryRuns(db);
      this.#cleanUpAt = performance.now() + cleanUpMs;
    }
    if (this.#abort.signal.aborted) return 0;
    const lease = randomUUID();
    const claimed = await claimErasure(db, { lease, leaseMs: this.#leaseMs });
    if (!claimed) {
      const waitMs = this.#continuesAt - performance.now();
      // The database's clock decides, and may be a little later.
      return waitMs > -1_000 ? Math.min(Math.max(waitMs, 50), idleMaxMs) : idleMaxMs;
    }
    const holder = { id: claimed.id, lease, leaseMs: this.#leaseMs };
    const heartbeat = setInterval(() => void extendErasure(db, holder).catch(() => {}), this.#leaseMs / 3);
    try {
      await this.#erase(claimed, holder);
    } catch (error) {
      await this.#fail(claimed, holder, error);
    } finally {
      clearInterval(heartbeat);
    }
    return 0;
  }

  async #erase(claimed: ClaimedErasure, holder: Holder): Promise<void> {
    const { db, vault, work } = this.#deps;
    const { signal } = this.#abort;
    const sealed = claimed.sealed && openSealed(vault, claimed.id, claimed.sealed);
    if (!sealed) {
      const error = `The criterion ${unreadableSecret}.`;
      return endErasure(db, holder, { state: "failed", error });
    }
    const { criterion: kind, projectId } = claimed;
    const isId = kind === "userId" || kind === "conversationId";
    const { pseudonyms, unreadableKeys } = isId
      ? await listPseudonyms(db, vault, projectId, sealed.values[0]!)
      : { pseudonyms: [], unreadableKeys: 0 };
    const criterion = { kind, values: [...storedValues(kind, sealed.values), ...pseudonyms] };
    const erasure = { ...claimed, criterion, choices: sealed };
    if (signal.aborted) return releaseErasure(db, holder);
    const begun = performance.now();
    const part = await partOf(db, work, erasure, signal);
    const matched = await moveErasure(db, vault, holder, part);
    // Its lease has ended: another process works on it.
    if (matched === undefined) return;
    const end = endOf({ ...erasure, step: part.step, cursor: part.cursor, matched }, part);
    if (end) return endErasure(db, holder, { error: notSearched(unreadableKeys), ...end });
    await yieldErasure(db, holder, part.waitMs);
    this.#continuesAt = performance.now() + part.waitMs;
    // As long a rest as the work took: at most half of a core, and of a connection.
    await this.#rest(performance.now() - begun);
  }

  #rest(ms: number): Promise<void> {
    const { signal } = this.#abort;
    if (signal.aborted) return Promise.resolve();
    return new Promise(resolve => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      signal.addEventListener("abort", end, { once: true });
    });
  }

  async #fail({ id, attempts }: ClaimedErasure, holder: Holder, error: unknown): Promise<void> {
    const { db, log } = this.#deps;
    if (this.#abort.signal.aborted) return releaseErasure(db, holder);
    const isUnavailable = isTransient(error) || (error instanceof Refusal && error.code === "UNAVAILABLE");
    if (isUnavailable) {
      log.warn({ erasureId: id }, "an erasure is interrupted; it will continue");
      const reason = "Interrupted: the database or the erasure thread was unavailable.";
      return postponeErasure(db, holder, { error: reason, pauseMs: retryMs });
    }
    log.error({ erasureId: id, err: unsaid(error) }, "an erasure failed");
    if (attempts + 1 >= attemptsMax) {
      return endErasure(db, holder, { state: "failed", error: "Internal error; see the service log." });
    }
    const reason = `Internal error; see the service log. Attempt ${attempts + 1} of ${attemptsMax}.`;
    await postponeErasure(db, holder, { error: reason, pauseMs: retryMs * 2 ** attempts });
  }
}

/** Where the error occurred, without its message, which may quote what is to be erased. */
function unsaid(error: unknown): object {
  const { name, code, stack, message } = error as Error & { code?: unknown };
  const frames = `${stack ?? ""}\n${message ?? ""}`.split("\n").filter(line => /^\s+at /.test(line));
  return { type: name, ...(typeof code === "string" && { code }), stack: frames.join("\n") };
}
