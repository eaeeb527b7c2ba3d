// Divides the database's connections among the processes of one machine, so that all together stay under its limit.
import { availableParallelism } from "node:os";
import { type Config, ConfigError } from "../config.ts";

/** The connections of one process: for requests to the API and everything else, and for ingestion alone. */
export type Pools = { main: number; ingestion: number };

/** Of a process that has the machine to itself. */
export const ownPools: Pools = { main: 10, ingestion: 6 };
// With fewer, requests to the API would wait for each other longer than the 2 s that they wait for a connection.
const leastPools: Pools = { main: 3, ingestion: 2 };

/** Of the process that leads: what evaluates has connections of its own. */
export const leaderMain = 4;
const perEvaluator = 4;
/** Besides its pools, an HTTP process listens, and its threads have two each: editor, reader, search, holders. */
const besidePools = 1 + 4 * 2;
/** Besides its pool, the leader has the erasure thread's, and those of starting up. */
const besideLeader = 2 + 2;
/** Of the server's connections, for others: `npm run bootstrap`, a backup, psql. */
export const reserve = 10;

const sizeOf = ({ main, ingestion }: Pools) => main + ingestion + besidePools;

function leaderSize({ roles, evaluators }: Pick<Config, "roles" | "evaluators">): number {
  return leaderMain + besideLeader + (roles.includes("worker") ? evaluators * perEvaluator : 0);
}

export type Layout = {
  processes: number;
  /** Of each of them. */
  pools: Pools;
  /** Why there are fewer than there are cores for. */
  shortage?: string;
};

type Wanted = Pick<Config, "roles" | "evaluators" | "httpProcesses">;

/** As many as were asked for, or one less than there are cores. */
export function wantedProcesses({ httpProcesses }: Pick<Config, "httpProcesses">): number {
  return httpProcesses ?? Math.max(1, availableParallelism() - 1);
}

/** What this many processes need at most, the reserve included. */
export function connectionsFor(config: Wanted, processes = wantedProcesses(config)): number {
  return reserve + leaderSize(config) + processes * sizeOf(ownPools);
}

/** `reserve` connections of `limit` are left to others; none of SVC_DATABASE_CONNECTIONS. */
export type Limit = { limit: number; reserve: number };

/**
 * How many processes serve HTTP, and with how many connections each. `allowed`: for this machine; undefined: a pooler divides
 * them. Throws ConfigError if SVC_HTTP_PROCESSES asks for more than they suffice for.
 */
export function layOut(config: Wanted, allowed: Limit | undefined, wanted = wantedProcesses(config)): Layout {
  if (wanted === 1 || allowed === undefined) return { processes: wanted, pools: ownPools };
  const { limit, reserve } = allowed;
  const left = limit - reserve - leaderSize(config);
  const most = Math.max(1, Math.floor(left / sizeOf(leastPools)));
  const processes = Math.min(wanted, most);
  if (processes === wanted) return { processes, pools: poolsOf(Math.floor(left / processes)) };
  const least = reserve + leaderSize(config) + wanted * sizeOf(leastPools);
  const shortage = `${wanted} HTTP processes need ${least} connections to the database, and ${limit} are allowed`;
  if (config.httpProcesses !== undefined) {
    throw new ConfigError(
      `SVC_HTTP_PROCESSES is ${wanted}, but ${shortage}. Set it to ${most} or less, or raise max_connections (or SVC_DATABASE_CONNECTIONS).`,
    );
  }
  const pools = processes === 1 ? ownPools : poolsOf(Math.floor(left / processes));
  return {
    processes,
    pools,
    shortage: `${shortage}; starting ${processes}. Raise ${reserve === 0 ? "SVC_DATABASE_CONNECTIONS" : "max_connections"}, or set SVC_HTTP_PROCESSES.`,
  };
}

/** Three of eight connections are for ingestion, up to the pools of a process of its own. */
function poolsOf(size: number): Pools {
  const pooled = Math.min(size - besidePools, ownPools.main + ownPools.ingestion);
  const ingestion = Math.max(leastPools.ingestion, Math.floor((pooled * 3) / 8));
  return { main: pooled - ingestion, ingestion };
}
