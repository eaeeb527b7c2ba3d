// How a launcher reaches agents: by their connections as they are now, through the one door that leads outside.
import { callAgent } from "../remote/agent/call.ts";
import type { Outbound } from "../remote/outbound.ts";
import type { Database } from "../store/db.ts";
import { requireConnection } from "../store/runs/agent-connections.ts";
import type { Vault } from "../store/secrets/vault.ts";
import type { ConductDeps } from "./conduct.ts";

/** How long a turn's trace is waited for, and how many runs of the agent there may be at once. */
export type RunBounds = { waitMs: number; concurrency: number };

export type Caller = Pick<ConductDeps, "call"> & {
  /** Throws a Refusal where the agent cannot be called. */
  boundsOf: (agentId: string) => Promise<RunBounds>;
};

export function openCaller(db: Database, vault: Vault, outbound: Pick<Outbound, "fetch">): Caller {
  return {
    boundsOf: agentId => requireConnection(db, vault, agentId),
    call: async (agentId, turn, signal) =>
      callAgent(outbound, await requireConnection(db, vault, agentId), turn, signal),
  };
}
