// Reaches the shards of agents on a Citus cluster: a Database for each group of shards, in which the names of tables mean the shards.
import { setTimeout as delay } from "node:timers/promises";
import type pg from "pg";
import type { Logger } from "pino";
import {
  type Database,
  isTransient,
  openDatabase,
  type Places,
  type Session,
  type Unavailable,
} from "../db.ts";
import { urlAt } from "./nodes.ts";

export type ShardsOptions = {
  /** The coordinator's database, and its URL, from which those of the workers are made. */
  db: Database;
  url: string;
  /** Connections to each worker. */
  connectionsMax?: number;
  /** How long a statement may take there. */
  answerMs?: number;
  /** Told when a worker becomes unavailable, and when it is back. */
  log?: Pick<Logger, "info" | "warn">;
};

/**
 * Every agent is in one group of shards: those of all tables with one range of hashes, which Citus keeps on one node. A
 * transaction there takes the group's lock, as Citus's own transactions do, so that a move waits for it; it fails with a
 * transient error if the group has been moved since this process looked, and the next one looks again.
 */
export class Shards implements Places {
  readonly #options: ShardsOptions;
  /** By host and port. */
  readonly #nodes = new Map<string, Database>();
  #groups: Promise<Map<string, Database>> | undefined;
  /** The node of each group, as it was read last. */
  readonly #nodeOf = new Map<string, Database>();
  /** The group of each agent. It stays until a group is split. */
  #known = new Map<string, string>();
  /** The workers that did not answer when they were asked last. */
  readonly #silent = new Set<Database>();
  /** Asks them until they are back, if somebody is told. */
  #watch: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: ShardsOptions) {
    this.#options = options;
  }

  async of(agentIds: Iterable<string>): Promise<Map<string, Database>> {
    const ids = [...new Set(agentIds)];
    const found = await this.#find(ids);
    if (found) return found;
    // A group was split.
    this.#forget();
    const again = await this.#find(ids);
    if (!again) throw new Error("An agent belongs to a group of shards that pg_dist_shard does not have.");
    return again;
  }

  /** Undefined if an agent is in a group that was unknown when this process looked. */
  async #find(ids: string[]): Promise<Map<string, Database> | undefined> {
    const known = this.#known;
    const unknown = ids.filter(id => !known.has(id));
    if (unknown.length > 0) for (const [id, group] of await this.#look(unknown)) known.set(id, group);
    const groups = await this.groups();
    const found = new Map<string, Database>();
    for (const id of ids) {
      const place = groups.get(known.get(id)!);
      if (!place) return undefined;
      found.set(id, place);
    }
    return found;
  }

  async all(): Promise<Database[]> {
    return [...(await this.groups()).values()];
  }

  /** All databases, by the ids of their shards of `traces`. */
  groups(): Promise<Map<string, Database>> {
    this.#groups ??= this.#readGroups().catch(error => {
      this.#groups = undefined;
      throw error;
    });
    return this.#groups;
  }

  /** Agents may be elsewhere now. */
  #forget(): void {
    this.#groups = undefined;
    this.#known = new Map();
  }

  async available(): Promise<Database[]> {
    const groups = await this.groups();
    const faults = await this.#ping();
    const found = [...groups].filter(([group]) => !faults.get(this.#nodeOf.get(group)!));
    if (found.length === 0) throw [...faults.values()][0];
    return found.map(([, place]) => place);
  }

  async findUnavailable(): Promise<Unavailable> {
    await this.groups();
    const faults = await this.#ping();
    const workers = [...this.#nodes].filter(([, node]) => faults.get(node)).map(([address]) => address);
    return { workers, of: faults.size };
  }

  /** The workers that have agents, each with what keeps it from answering. */
  async #ping(): Promise<Map<Database, Error | undefined>> {
    const nodes = [...new Set(this.#nodeOf.values())];
    const faults = await Promise.all(nodes.map(faultOf));
    for (const [at, fault] of faults.entries()) this.#note(nodes[at]!, fault);
    // Its standby may have taken its place.
    if (faults.some(Boolean)) this.#forget();
    return new Map(nodes.map((node, at) => [node, faults[at]]));
  }

  #note(node: Database, fault: Error | undefined): void {
    if (this.#isClosed || this.#silent.has(node) === (fault !== undefined)) return;
    const [worker] = [...this.#nodes].find(([, known]) => known === node)!;
    const { log } = this.#options;
    if (fault) {
      this.#silent.add(node);
      log?.warn({ worker, err: fault.message }, "Worker of the cluster unavailable");
    } else {
      this.#silent.delete(node);
      log?.info({ worker }, "Worker of the cluster available again");
    }
    clearInterval(this.#watch);
    if (log && this.#silent.size > 0) this.#watch = setInterval(() => void this.#ping(), watchMs).unref();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#watch);
    await Promise.all([...this.#nodes.values()].map(node => node.close()));
  }

  async #look(agentIds: string[]): Promise<[id: string, group: string][]> {
    const { rows } = await this.#options.db.pool.query<{ id: string; shard: number }>({
      name: "groups_of_agents",
      text: "select id, get_shard_id_for_distribution_column('traces', id) as shard from unnest($1::uuid[]) as agent (id)",
      values: [agentIds],
    });
    return rows.map(({ id, shard }) => [id, String(shard)]);
  }

  async #readGroups(): Promise<Map<string, Database>> {
    const { rows } = await this.#options.db.pool.query<Placed>(
      `select s.shardid as shard, n.nodename as host, n.nodeport as port, ${schemaVersion} as version
      from pg_dist_shard s join pg_dist_placement p using (shardid)
      join pg_dist_node n on n.groupid = p.groupid and n.noderole = 'primary'
      where s.logicalrelid = 'traces'::regclass order by s.shardid`,
    );
    return new Map(
      rows.map(({ shard, host, port, version }) => {
        const group = String(shard);
        this.#nodeOf.set(group, this.#node(host, port));
        const find = async () => {
          await this.groups();
          return this.#nodeOf.get(group)!;
        };
        return [group, databaseOf({ group, version, find, moved: () => this.#forget() })];
      }),
    );
  }

  #node(host: string, port: number): Database {
    const address = `${host}:${port}`;
    const known = this.#nodes.get(address);
    if (known) return known;
    const { url, connectionsMax, answerMs } = this.#options;
    const limits = answerMs === undefined ? {} : { answerMs };
    const node = openDatabase(urlAt(url, { host, port }), connectionsMax, limits);
    this.#nodes.set(address, node);
    return node;
  }
}

/** Where a shard of `traces` is. */
type Placed = { shard: number; host: string; port: number; version: string };

type Group = {
  group: string;
  version: string;
  /** The node that has it. */
  find: () => Promise<Database>;
  moved: () => void;
};

const healthMs = 2_000;
const watchMs = 5_000;

async function faultOf(node: Database): Promise<Error | undefined> {
  const asked = node.pool.query("select").then(
    () => undefined,
    (error: Error) => error,
  );
  const late = Object.assign(new Error(`No answer in ${healthMs / 1_000} s`), { code: "ETIMEDOUT" });
  return Promise.race([asked, delay(healthMs, late, { ref: false })]);
}

/**
 * The group as a database: every transaction, and every statement without one, begins by entering it, in one round trip. Where it
 * was moved meanwhile, nothing was done yet, and the transaction begins at the node where it is now.
 */
function databaseOf({ group, version, find, moved }: Group): Database {
  const enter = `begin; select enter_shards(${group}, '${version}')`;
  const transaction: Database["transaction"] = async work => {
    let hasEntered = false;
    const within = (session: Session) => {
      hasEntered = true;
      return work(sessionIn(group, session));
    };
    const at = (node: Database) =>
      node.transaction(within, enter).catch(error => {
        // A standby may have taken the place of the node.
        if (isTransient(error)) moved();
        throw error;
      });
    const first = await find();
    return at(first).catch(async error => {
      const next = !hasEntered && isMove(error) ? await find() : first;
      if (next === first) throw error;
      return at(next);
    });
  };
  const query = (statement: pg.QueryConfig | string, values?: unknown[]) =>
    transaction(session => session.query(statement, values));
  // The node stays open for the other groups.
  return { pool: { query: query as Session["query"] }, transaction, close: async () => {} };
}

/** A prepared statement means the tables that its names meant first, so each group has its own. */
function sessionIn(group: string, session: Session): Session {
  const query = (statement: pg.QueryConfig | string, values?: unknown[]) => {
    const name = typeof statement === "string" ? undefined : statement.name;
    return session.query(
      name ? { ...(statement as pg.QueryConfig), name: `${name}@${group}` } : statement,
      values,
    );
  };
  return { query: query as Session["query"] };
}

/** Of `enter_shards`: a group that was moved, or whose transaction has just begun beside a move. */
function isMove(error: unknown): boolean {
  return (error as { code?: unknown }).code === "40001";
}

/** As SQL: rises with every change of the schema. What a cluster makes of it for each group of shards is made again then. */
export const schemaVersion = `(select to_char(max(applied_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') from migrations)`;
