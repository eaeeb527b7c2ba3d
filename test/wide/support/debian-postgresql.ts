// Starts a throwaway server of Debian's PostgreSQL: as an ordinary user, on the loopback interface, in a scratch folder.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chownSync, existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { serverEnvironment } from "../../../src/embedded/folder.ts";
import { asUser, serverUser } from "../../../src/embedded/user.ts";
import { freePort } from "../../support/free-port.ts";
import { makeScratch } from "../../support/scratch.ts";
import { requireCommand } from "./command.ts";

const installed = "/usr/lib/postgresql";

/** The oldest installed version that Onlooker supports; undefined: none. Debian 12 has 15, Debian 13 has 17. */
export function debianPostgresql(): number | undefined {
  if (!existsSync(installed)) return undefined;
  const versions = readdirSync(installed).map(Number);
  return versions
    .filter(version => version >= 15 && existsSync(join(programs(version), "initdb")))
    .sort((one, other) => one - other)[0];
}

function programs(version: number): string {
  return join(installed, String(version), "bin");
}

/**
 * `url` is that of a superuser on the database `postgres`. Sorts text as English readers do, where the embedded server
 * sorts by code point.
 */
export async function startDebianPostgresql(
  version: number,
): Promise<{ url: string; stop(): Promise<void> }> {
  const user = serverUser([]);
  const folder = makeScratch();
  const password = randomBytes(12).toString("hex");
  const passwordFile = join(folder, "password");
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (user.switched) for (const path of [folder, passwordFile]) chownSync(path, user.uid, user.gid);
  const options = { cwd: folder, env: serverEnvironment, ...asUser(user) };
  const data = ["-D", join(folder, "data")];
  const shape = ["--encoding=UTF8", "--locale=C", "--locale-provider=icu", "--icu-locale=en-US"];
  const access = ["--username=onlooker", "--auth=scram-sha-256", `--pwfile=${passwordFile}`];
  await requireCommand(
    join(programs(version), "initdb"),
    [...data, ...shape, ...access, "--no-sync"],
    options,
  );

  const port = await freePort();
  const settings = { port, listen_addresses: "127.0.0.1", unix_socket_directories: "", fsync: "off" };
  const set = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const server = spawn(join(programs(version), "postgres"), [...data, ...set], {
    ...options,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  const ready = new Promise<void>((resolve, reject) => {
    server.stderr.setEncoding("utf8").on("data", (text: string) => {
      log += text;
      if (/ready to accept connections/.test(log)) resolve();
    });
    server.once("exit", () => reject(new Error(`PostgreSQL ${version} did not start:\n${log}`)));
  });
  const stop = async () => {
    if (server.exitCode === null && server.signalCode === null) {
      const ended = once(server, "exit");
      server.kill("SIGINT"); // a fast shutdown: connections are closed
      await ended;
    }
    rmSync(folder, { recursive: true, force: true });
  };
  await ready.catch(async error => {
    await stop();
    throw error;
  });
  return { url: `postgresql://onlooker:${password}@127.0.0.1:${port}/postgres`, stop };
}
