// A PostgreSQL and its streaming standby, from the embedded programs: the primary dies or hangs, the standby is promoted.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { findBinaries } from "../../../src/embedded/binaries.ts";
import { ensureCluster, isAlive, openFolder, realFolder } from "../../../src/embedded/folder.ts";
import {
  connect,
  type Server,
  type ServerContext,
  shutDown,
  start,
  urlOf,
} from "../../../src/embedded/server.ts";
import { makeScratch } from "../../support/postgres-server.ts";
import { requireCommand } from "./command.ts";

export type Node = {
  /** Of a superuser on the database `postgres`. */
  url: string;
  /** As if its machine lost power: every process ends at once. */
  kill(): Promise<void>;
  /** As if its machine hung: connections stay, and nobody answers. */
  freeze(): void;
  thaw(): void;
  /** Starts it again after `kill`, as what it was. */
  restart(): Promise<void>;
  promote(): Promise<void>;
};

export type Pair = {
  primary: Node;
  standby: Node;
  /** Names both. */
  url: string;
  stop(): Promise<void>;
};

/** `synchronous`: the primary commits nothing that the standby does not have. */
export async function startPair({ synchronous }: { synchronous: boolean }): Promise<Pair> {
  const scratch = makeScratch();
  const first = await openNode(join(scratch, "a"));
  await first.up();
  const { port, password } = first;
  await first.down();
  const second = await openNode(join(scratch, "b"), join(scratch, "a"));
  second.configure(`primary_conninfo = 'host=127.0.0.1 port=${port()} user=onlooker password=${password()}'`);
  writeFileSync(join(second.cluster, "standby.signal"), "");
  await requireCommand("chown", ["--reference", second.cluster, join(second.cluster, "standby.signal")]);
  if (synchronous) first.configure("synchronous_standby_names = '*'");
  await Promise.all([first.up(), second.up()]);
  const [primary, standby] = [first.node(), second.node()];
  await streaming(primary.url);
  const hosts = [first, second].map(({ port }) => `127.0.0.1:${port()}`).join(",");
  return {
    primary,
    standby,
    url: `postgresql://onlooker:${password()}@${hosts}/postgres?target_session_attrs=read-write`,
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
async function openNode(dataDir: string, source?: string) {
  const user = openFolder(dataDir);
  const binaries = await findBinaries(dataDir, user);
  if (source !== undefined) {
    await requireCommand("cp", ["-a", join(source, "postgresql"), dataDir]);
  }
  await ensureCluster(dataDir, binaries, user);
  const folder = realFolder(dataDir);
  const { signal } = new AbortController();
  const log = { info() {}, warn: console.error, error: console.error };
  const context: ServerContext = { folder, binaries, user, log, port: undefined, signal };
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
  const node = (): Node => ({
    url: urlOf(folder, context.port!, "postgres"),
    async kill() {
      signalAll("SIGSTOP");
      signalAll("SIGKILL");
      while (isAlive(server.pid)) await delay(5);
      rmSync(join(folder.cluster, "postmaster.pid"), { force: true });
    },
    freeze: () => signalAll("SIGSTOP"),
    thaw,
    restart: up,
    async promote() {
      const client = new pg.Client({ connectionString: urlOf(folder, context.port!, "postgres") });
      await client.connect();
      await client.query("select pg_promote()");
      await client.end();
    },
  });

  return {
    cluster: folder.cluster,
    up,
    down: () => shutDown(context),
    thaw,
    node,
    port: () => context.port!,
    password: () => new URL(urlOf(folder, 1, "postgres")).password,
    configure(line: string) {
      writeFileSync(join(folder.cluster, "postgresql.conf"), `${line}\n`, { flag: "a" });
    },
  };
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
