// The PostgreSQL of a run: one server, or a primary with a synchronous standby that takes its place.
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import type { Random } from "../fuzz/random.ts";
import { startCluster } from "../test/support/cluster.ts";
import { type Node, startPair } from "../test/wide/support/replication.ts";

export type Database = {
  /** For the service: names all servers. */
  url: string;
  /** Of the server that accepts writes now. */
  primaryUrl(): string;
  /** Every connection breaks without cleanup. Resolves once it is down. */
  crash(random: Random): Promise<void>;
  /** Starts what is down. Resolves once it has recovered. */
  resume(): Promise<void>;
  /** The primary loses its machine, the standby is promoted, and a new standby is made of the former primary. */
  failOver?: (random: Random) => Promise<void>;
  stop(): Promise<void>;
};

/** `parent`: the folder that the data is in. */
export async function openDatabase(parent: string | undefined, hasStandby: boolean): Promise<Database> {
  return hasStandby ? openPair(parent) : openSingle(parent);
}

async function openSingle(parent: string | undefined): Promise<Database> {
  const cluster = await startCluster(parent);
  const { url } = cluster;
  return { ...cluster, primaryUrl: () => url };
}

async function openPair(parent: string | undefined): Promise<Database> {
  const pair = await startPair({
    ...{ synchronous: true, parent, maxConnections: 300 },
    // A standby comes back at once, and finds the WAL since its backup was begun.
    configuration: ["wal_retrieve_retry_interval = 200ms", "wal_keep_size = 512MB"],
  });
  let { primary, standby } = pair;
  const resume = async () => {
    // The primary first: a standby that has lost it starts anyway, and waits.
    for (const node of [primary, standby]) if (!node.isRunning()) await node.restart();
  };
  return {
    url: pair.url,
    primaryUrl: () => primary.url,
    crash: random => (random.chance(0.5) ? primary.crash() : primary.kill()),
    resume,
    async failOver(random) {
      // What the primary has acknowledged is on the standby only while that one is connected.
      await becomesSynchronous(primary);
      await primary.kill();
      await delay(random.below(1_000));
      await standby.promote();
      [primary, standby] = [standby, primary];
      // As an operator would: alone, it must not wait for a standby. There is no other failover before it has one.
      await setSynchronous(primary, "");
      await standby.follow(primary);
      await setSynchronous(primary, "*");
      await becomesSynchronous(primary);
    },
    stop: pair.stop,
  };
}

async function setSynchronous(node: Node, names: "" | "*"): Promise<void> {
  await query(node, `alter system set synchronous_standby_names = '${names}'`);
  await query(node, "select pg_reload_conf()");
}

async function becomesSynchronous(node: Node): Promise<void> {
  while ((await query(node, "select from pg_stat_replication where sync_state = 'sync'")) === 0)
    await delay(50);
}

/** Returns the number of rows. */
async function query({ url }: Node, text: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {}); // the query rejects as well
  await client.connect();
  try {
    return (await client.query(text)).rowCount ?? 0;
  } finally {
    await client.end();
  }
}
