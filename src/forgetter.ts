// Forgets content in the background: claims traces and manual runs that are due, under a lease, and has their texts dropped.
import type { Logger } from "pino";
import { ClaimLoop, logFault } from "./claiming.ts";
import type { ToForget } from "./load/forget.ts";
import { findForgettingSettings } from "./store/content/settings.ts";
import { claimDue, nextDueMs } from "./store/content-deadlines.ts";
import { type Database, isTransient } from "./store/db.ts";
import type { Vault } from "./store/secrets/vault.ts";

export type ForgetterDeps = {
  db: Database;
  vault: Vault;
  /** Drops the content of those that are still due, on a thread. */
  forget: (due: ToForget, signal?: AbortSignal) => Promise<{ traces: ForgottenTrace[] }>;
  onForgotten: (trace: ForgottenTrace) => void;
  log: Logger;
  leaseMs?: number;
};

export type ForgottenTrace = { traceId: string; agentId: string };

const leaseMsDefault = 120_000;
const rowsMax = 50;
/** How late a deadline is noticed that another process noted. */
const idleMaxMs = 1_000;

export class Forgetter {
  readonly #deps: ForgetterDeps;
  readonly #leaseMs: number;
  readonly #abort = new AbortController();
  readonly #loop: ClaimLoop;

  constructor(deps: ForgetterDeps) {
    this.#deps = deps;
    this.#leaseMs = deps.leaseMs ?? leaseMsDefault;
    this.#loop = new ClaimLoop({
      claim: () => this.#work(),
      onFault: error =>
        logFault(
          deps.log,
          isTransient(error) ? error : unquoted(error),
          "content was not forgotten; it is retried",
        ),
    });
  }

  /** Breaks off; what is not forgotten yet is claimed again once the lease has ended. */
  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#loop.stop();
  }

  async #work(): Promise<number> {
    const { db, vault, forget, onForgotten } = this.#deps;
    const { signal } = this.#abort;
    if (signal.aborted) return 0;
    const begun = performance.now();
    const due = await claimDue(db, { rowsMax, leaseMs: this.#leaseMs });
    if (!due) return Math.min(Math.max((await nextDueMs(db)) ?? idleMaxMs, 0), idleMaxMs);
    if (due.traceIds.length + due.runIds.length > 0) {
      const { agentIds, ...subjects } = due;
      const settings = await findForgettingSettings(db, vault, agentIds);
      const { traces } = await forget({ ...subjects, settings }, signal);
      for (const trace of traces) onForgotten(trace);
    }
    // As long a rest as the work took: at most half of a core, and of a connection.
    return performance.now() - begun;
  }
}

/** Where the error occurred, without its message, which may quote content. */
function unquoted(error: unknown): object {
  const { name, code, stack } = error as Error & { code?: unknown };
  const frames = (stack ?? "").split("\n").filter(line => /^\s+at /.test(line));
  return { type: name, ...(typeof code === "string" && { code }), stack: frames.join("\n") };
}
