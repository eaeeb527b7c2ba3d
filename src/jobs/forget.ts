// Forgets content: claims traces and manual runs that are due, and has their texts dropped.
import type { ToForget } from "../load/forget.ts";
import { findForgettingSettings } from "../store/content/settings.ts";
import { claimDue, nextDueMs } from "../store/content-deadlines.ts";
import type { Database } from "../store/db.ts";
import type { Vault } from "../store/secrets/vault.ts";
import type { Job } from "./job.ts";

export type ForgetDeps = {
  db: Database;
  vault: Vault;
  /** Drops the content of the traces that are still due, on a thread. */
  forget: (due: ToForget, signal?: AbortSignal) => Promise<{ traces: ForgottenTrace[] }>;
  onForgotten: (trace: ForgottenTrace) => void;
  /** After which others claim what a process that died had claimed. */
  claimMs?: number;
};

export type ForgottenTrace = { traceId: string; agentId: string };

const claimMsDefault = 120_000;
const rowsMax = 50;
/** How late a deadline is noticed that another process noted. */
const idleMaxMs = 1_000;

export function forget({ claimMs = claimMsDefault, ...deps }: ForgetDeps): Job {
  const { db, vault, onForgotten } = deps;
  return {
    name: "forget",
    fault: "content was not forgotten; it is retried",
    everyMs: idleMaxMs,
    quotes: true,
    async step(signal) {
      const due = await claimDue(db, { rowsMax, leaseMs: claimMs });
      if (!due) {
        const nextMs = (await nextDueMs(db)) ?? idleMaxMs;
        return nextMs < idleMaxMs ? Math.max(nextMs, 0) : false;
      }
      if (due.traceIds.length + due.runIds.length > 0) {
        const { agentIds, ...subjects } = due;
        const settings = await findForgettingSettings(db, vault, agentIds);
        const { traces } = await deps.forget({ ...subjects, settings }, signal);
        for (const trace of traces) onForgotten(trace);
      }
      return true;
    },
  };
}
