// A Citus cluster of a test's own: three servers of Debian's PostgreSQL 15 in a folder, which archive their logs and can be restored.
import { appendFileSync, chownSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { serverEnvironment } from "../../../src/embedded/folder.ts";
import { asUser, type ServerUser, serverUser } from "../../../src/embedded/user.ts";
import { freePort } from "../../support/free-port.ts";
import { makeScratch } from "../../support/scratch.ts";
import { requireCommand } from "./command.ts";

const programs = "/usr/lib/postgresql/15/bin";

export const hasCitusServer = (): boolean => existsSync("/usr/lib/postgresql/15/lib/citus.so");

export type CitusServers = {
  /** Of the coordinator. */
  url: string;
  nodes: CitusServer[];
  stop(): Promise<void>;
};

export type CitusServer = {
  port: number;
  url: string;
  /** The files of its archived log. */
  log: string;
  /** Runs shell commands as its user, in the folder of all nodes. */
  run(commands: string, env?: Record<string, string>): Promise<void>;
  /** Ends it, puts this folder beside the others' in place of its data, and starts it with these files and settings added. */
  restore(base: string, files: string[], settings: string): Promise<void>;
};

/** `settings`: lines of postgresql.conf, in which `/backup/log` is the folder of each node's archive. */
export async function startCitusServers(settings: string): Promise<CitusServers> {
  const folder = makeScratch();
  const user = serverUser([]);
  if (user.switched) chownSync(folder, user.uid, user.gid);
  const nodes: CitusServer[] = [];
  const ports = [await freePort(), await freePort(), await freePort()];
  const stop = async () => {
    for (const port of ports.slice(0, nodes.length)) await control(folder, user, port, "stop -m immediate");
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    for (const port of ports) nodes.push(await startNode(folder, user, port, settings));
    const [coordinator, ...workers] = nodes as [CitusServer, ...CitusServer[]];
    await query(
      coordinator.url,
      `select citus_set_coordinator_host('127.0.0.1', ${coordinator.port})`,
      ...workers.map(({ port }) => `select citus_add_node('127.0.0.1', ${port})`),
    );
    return { url: coordinator.url, nodes, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startNode(
  folder: string,
  user: ServerUser,
  port: number,
  settings: string,
): Promise<CitusServer> {
  const data = join(folder, `data-${port}`);
  const log = join(folder, `log-${port}`);
  mkdirSync(log);
  if (user.switched) chownSync(log, user.uid, user.gid);
  const options = { cwd: folder, ...asUser(user) };
  const run = async (commands: string, env: Record<string, string> = {}) => {
    const variables = { ...serverEnvironment, PATH: `${programs}:/usr/bin:/bin`, ...env };
    await requireCommand("sh", ["-e", "-c", commands], { ...options, env: variables });
  };
  await run(`initdb -D ${data} -A trust -U onlooker --no-sync`);
  const own = {
    ...{ port, listen_addresses: "'127.0.0.1'", unix_socket_directories: "''", fsync: "off" },
    ...{ shared_preload_libraries: "'citus'", max_prepared_transactions: 50, wal_level: "logical" },
  };
  const lines = Object.entries(own).map(([name, value]) => `${name} = ${value}\n`);
  const here = (text: string) => text.replaceAll("/backup/log", log);
  appendFileSync(join(data, "postgresql.conf"), `${lines.join("")}${here(settings)}`);
  await control(folder, user, port, "start");
  const url = `postgresql://onlooker@127.0.0.1:${port}/onlooker`;
  const admin = `postgresql://onlooker@127.0.0.1:${port}/postgres`;
  await query(admin, "create database onlooker encoding 'UTF8' locale 'C.UTF-8' template template0");
  await query(url, "create extension citus");
  return {
    ...{ port, url, log, run },
    async restore(base, files, added) {
      await control(folder, user, port, "stop -m immediate");
      rmSync(data, { recursive: true });
      renameSync(join(folder, base), data);
      for (const file of files) {
        writeFileSync(join(data, file), "");
        if (user.switched) chownSync(join(data, file), user.uid, user.gid);
      }
      appendFileSync(join(data, "postgresql.auto.conf"), here(added));
      await control(folder, user, port, "start");
    },
  };
}

async function control(folder: string, user: ServerUser, port: number, verb: string): Promise<void> {
  const data = join(folder, `data-${port}`);
  const [name, ...options] = verb.split(" ");
  await requireCommand(
    join(programs, "pg_ctl"),
    [name!, ...options, "-D", data, "-w", "-l", join(folder, `server-${port}`)],
    { cwd: folder, env: serverEnvironment, ...asUser(user) },
  );
}

async function query(url: string, ...texts: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const text of texts) await client.query(text);
  } finally {
    await client.end();
  }
}
