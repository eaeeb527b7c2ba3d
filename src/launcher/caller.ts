// Calls agents with their current connection, through the SSRF-safe fetch.
import { callAgent } from "../remote/agent/call.ts";
import type { Outbound } from "../remote/outbound.ts";
import { findStoringOfAgent } from "../store/accounts/privacy.ts";
import type { Database } from "../store/db.ts";
import { requireConnection } from "../store/runs/agent-connections.ts";
import type { Vault } from "../store/secrets/vault.ts";
import type { TurnDeps } from "./turns.ts";

/** How long to wait for the trace of a turn, and the limit of concurrent runs of the agent. */
export type RunBounds = { waitMs: number; concurrency: number };

export type Caller = Pick<TurnDeps, "call" | "storingOf"> & {
  /** Throws a Refusal if the agent cannot be called. */
  boundsOf: (agentId: string) => Promise<RunBounds>;
};

export function openCaller(db: Database, vault: Vault, outbound: Pick<Outbound, "fetch">): Caller {
  return {
    storingOf: agentId => findStoringOfAgent(db, vault, agentId),
    boundsOf: agentId => requireConnection(db, vault, agentId),
    call: async (agentId, turn, signal) =>
      callAgent(outbound, await requireConnection(db, vault, agentId), turn, signal),
  };
}
