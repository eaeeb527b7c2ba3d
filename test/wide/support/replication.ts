// A PostgreSQL and its streaming standby, from the embedded programs: the primary dies or hangs, the standby is promoted.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { findBinaries } from "../../../src/embedded/binaries.ts";
import { ensureCluster, isAlive, isServer, openFolder, realFolder } from "../../../src/embedded/folder.ts";
import {
  connect,
  type Server,
  type ServerContext,
  shutDown,
  start,
  superuserUrl,
} from "../../../src/embedded/server.ts";
import { makeScratch } from "../../support/scratch.ts";
import { requireCommand, runCommand } from "./command.ts";

export type Node = {
  /** Of a superuser on the database `postgres`. */
  url: string;
  /** As if its machine lost power: every process ends at once. */
  kill(): Promise<void>;
  /** As if its machine hung: connections stay, and nobody answers. */
  freeze(): void;
  thaw(): void;
  /** Every connection breaks without cleanup, as in `pg_ctl stop -m immediate`. Resolves once it is down. */
  crash(): Promise<void>;
  /** Starts it again after `kill` or `crash`, as what it was. */
  restart(): Promise<void>;
  isRunning(): boolean;
  promote(): Promise<void>;
  /** Starts it, which is down, with a copy of that one's data, as its standby. Resolves once it streams. */
  follow(primary: Node): Promise<void>;
  /** Where its files are. */
  cluster: string;
};

export type Pair = {
  primary: Node;
  standby: Node;
  /** Names both. */
  url: string;
  stop(): Promise<void>;
};

export type PairOptions = {
  /** The primary commits nothing that the standby does not have. */
  synchronous: boolean;
  /** The folder that their data folders are made in. */
  parent?: string | undefined;
  maxConnections?: number | undefined;
  /** Further lines of both configurations. */
  configuration?: string[];
};

export async function startPair({
  synchronous,
  parent,
  maxConnections,
  configuration = [],
}: PairOptions): Promise<Pair> {
  const scratch = makeScratch(parent);
  const first = await openNode(join(scratch, "a"), { maxConnections });
  for (const line of configuration) first.configure(line);
  await first.up();
  const { port, password } = first;
  await first.down();
  const second = await openNode(join(scratch, "b"), { maxConnections, source: join(scratch, "a") });
  await second.standBy(port());
  if (synchronous) first.configure("synchronous_standby_names = '*'");
  await Promise.all([first.up(), second.up()]);
  const [primary, standby] = [first.node(), second.node()];
  await streaming(primary.url);
  const hosts = [first, second].map(({ port }) => `127.0.0.1:${port()}`).join(",");
  return {
    primary,
    standby,
    url: `postgresql://postgres:${password()}@${hosts}/postgres?target_session_attrs=read-write`,
    async stop() {
      for (const { thaw, down } of [first, second]) {
        thaw();
        await down();
      }
      rmSync(scratch, { recursive: true, force: true });
    },
  };
}

/** A server in this folder, whose files are those of a stopped one if given. */
async function openNode(
  dataDir: string,
  { source, maxConnections }: { source?: string; maxConnections?: number | undefined },
) {
  const user = openFolder(dataDir);
  const binaries = await findBinaries(dataDir, user);
  if (source !== undefined) {
    await requireCommand("cp", ["-a", join(source, "postgresql"), dataDir]);
  }
  await ensureCluster(dataDir, binaries, user);
  const folder = realFolder(dataDir);
  const { signal } = new AbortController();
  const log = { info() {}, warn: console.error, error: console.error };
  const context: ServerContext = { folder, binaries, user, log, maxConnections, port: undefined, signal };
  let server: Server;

  async function up(): Promise<void> {
    server = (await start(context, false))!;
    context.port = server.port;
    const client = await connect(folder, server, signal);
    if (!client) throw new Error(readFileSync(folder.log, "utf8").slice(-2_000));
    await client.end();
  }

  const signalAll = (name: NodeJS.Signals) => {
    // The postmaster first, so that it starts no more of them.
    for (const pid of [server.pid, ...childrenOf(server.pid)]) {
      if (isAlive(pid)) process.kill(pid, name);
    }
  };

  const thaw = () => signalAll("SIGCONT");
  const password = () => new URL(superuserUrl(folder, 1)).password;
  const configure = (line: string) => {
    writeFileSync(join(folder.cluster, "postgresql.conf"), `${line}\n`, { flag: "a" });
  };
  const standBy = async (primaryPort: string | number) => {
    configure(`primary_conninfo = 'host=127.0.0.1 port=${primaryPort} user=postgres password=${password()}'`);
    const signal = join(folder.cluster, "standby.signal");
    writeFileSync(signal, "");
    await requireCommand("chown", ["--reference", folder.cluster, signal]);
  };
  const node = (): Node => ({
    url: superuserUrl(folder, context.port!),
    cluster: folder.cluster,
    async kill() {
      signalAll("SIGSTOP");
      signalAll("SIGKILL");
      while (isAlive(server.pid)) await delay(5);
      rmSync(join(folder.cluster, "postmaster.pid"), { force: true });
    },
    async crash() {
      process.kill(server.pid, "SIGQUIT");
      while (isServer(server.pid, folder)) await delay(5);
    },
    freeze: () => signalAll("SIGSTOP"),
    thaw,
    restart: up,
    isRunning: () => isServer(server.pid, folder),
    async promote() {
      await queryOnce(superuserUrl(folder, context.port!), "select pg_promote()");
    },
    async follow(primary) {
      await copyRunning(primary, folder.cluster);
      await standBy(new URL(primary.url).port);
      await up();
      await streaming(primary.url);
    },
  });

  return {
    cluster: folder.cluster,
    up,
    down: () => shutDown(context),
    thaw,
    node,
    port: () => context.port!,
    password,
    configure,
    standBy,
  };
}

/** Replaces the files of a server that is down by a backup of a running one, as pg_basebackup makes it. */
async function copyRunning({ url, cluster }: Node, to: string): Promise<void> {
  for (const name of readdirSync(to)) rmSync(join(to, name), { recursive: true });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("select pg_backup_start('copy', fast => true)");
    // The WAL comes from the primary. Files that change or vanish meanwhile are what the WAL is replayed for: tar's exit code 1.
    const without = ["./pg_wal/*", "./postmaster.*", "./pg_replslot/*", "*/pgsql_tmp*"].map(
      name => `--exclude=${name}`,
    );
    const [archive, here] = [join(to, "..", "copy.tar"), "."];
    for (const args of [
      ["-C", cluster, ...without, "-cf", archive, here],
      ["-C", to, "-xpf", archive],
    ]) {
      const { code, stderr } = await runCommand("tar", args);
      if (code === null || code > 1) throw new Error(stderr);
    }
    rmSync(archive);
    const { rows } = await client.query("select labelfile from pg_backup_stop(wait_for_archive => false)");
    writeFileSync(join(to, "backup_label"), rows[0].labelfile);
    await requireCommand("chown", ["--reference", join(to, "PG_VERSION"), join(to, "backup_label")]);
  } finally {
    await client.end();
  }
}

async function queryOnce(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

/** Linux only. */
function childrenOf(parent: number): number[] {
  return readdirSync("/proc")
    .filter(name => /^\d+$/.test(name))
    .filter(name => {
      try {
        return (
          readFileSync(`/proc/${name}/stat`, "utf8")
            .replace(/^.*\) \S+ /, "")
            .split(" ")[0] === String(parent)
        );
      } catch {
        return false; // it has ended
      }
    })
    .map(Number);
}

async function streaming(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (;;) {
    const { rowCount } = await client.query("select from pg_stat_replication where state = 'streaming'");
    if (rowCount === 1) break;
    await delay(20);
  }
  await client.end();
}
