// Deletes traces whose retention time is over: few at a time, by turns of accounts and agents.
import type { Database } from "../store/db.ts";
import { expireTraces, listAgentsToExpire } from "../store/traces/retention.ts";
import { FairQueue, type Owners } from "../threads/fair-queue.ts";
import type { Job } from "./job.ts";

export type RetainDeps = {
  db: Database;
  /** The operator's, for all projects, in days; null: only the projects' own. */
  serverDays: number | null;
  onDeleted?: (traces: number) => void;
};

// How long a transaction may take about: as long as it runs, a request that shares a resource with a deleted trace waits.
const transactionMs = 50;
const tracesFirst = 20;
const tracesMost = 500;

export function retain({ db, serverDays, onDeleted }: RetainDeps): Job {
  const agents = new FairQueue<Owners>();
  /** Traces in a transaction: as many as it had time for before. */
  let tracesMax = tracesFirst;
  return {
    name: "retain",
    fault: "old traces cannot be deleted",
    everyMs: 60_000,
    alone: true,
    async step() {
      if (agents.isEmpty) {
        for (const { id, accountId } of await listAgentsToExpire(db, serverDays)) {
          const owners = [accountId, id] as const;
          agents.add(owners, [owners]);
        }
      }
      const owners = agents.turn(queued => queued.shift()!);
      if (!owners) return false;
      const begun = performance.now();
      const wanted = tracesMax;
      // Of large traces, as many as of small ones may take longer than a statement may. Those of the other agents are next.
      tracesMax = Math.max(1, Math.floor(wanted / 4));
      const deleted = await expireTraces(db, owners[1], { serverDays, tracesMax: wanted });
      tracesMax = wanted;
      if (deleted > 0) onDeleted?.(deleted);
      if (deleted === wanted) {
        agents.add(owners, [owners]);
        const fitting = Math.floor((wanted * transactionMs) / (performance.now() - begun));
        tracesMax = Math.max(1, Math.min(fitting, 2 * wanted, tracesMost));
      }
      return !agents.isEmpty;
    },
  };
}
