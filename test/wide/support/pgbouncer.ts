// Runs PgBouncer with the sample configuration of docs/deploying.md, on a free port in front of a PostgreSQL.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asUser, serverUser } from "../../../src/embedded/user.ts";
import { freePort } from "../../support/free-port.ts";
import { listening, replaced, sampleOf } from "./proxies.ts";

export type PgBouncer = {
  /** Such as 127.0.0.1:6432. */
  address: string;
  /** A URL of the PostgreSQL behind it, through it. */
  through(url: string): string;
  /** Everything it logged. */
  log(): string;
  stop(): Promise<void>;
};

/** In front of the server of this URL, whose user it knows; `change` changes the sample. */
export async function startPgBouncer(
  serverUrl: string,
  change: (sample: string) => string = sample => sample,
): Promise<PgBouncer> {
  const server = new URL(serverUrl);
  const folder = mkdtempSync(join(tmpdir(), "onlooker-pgbouncer-"));
  const port = await freePort();
  const [config, users] = [join(folder, "pgbouncer.ini"), join(folder, "userlist.txt")];
  writeFileSync(users, `"${server.username}" "${decodeURIComponent(server.password)}"\n`);
  // Every database of the server, with a console, and neither a socket nor a file of its own.
  let sample = replaced(
    sampleOf("ini"),
    "onlooker = host=127.0.0.1 port=5432",
    `* = host=127.0.0.1 port=${server.port}`,
  );
  sample = replaced(sample, "listen_port = 6432", `listen_port = ${port}`);
  sample = replaced(sample, "/etc/pgbouncer/userlist.txt", users);
  writeFileSync(config, `${change(sample)}\nunix_socket_dir =\nadmin_users = ${server.username}\n`);
  // It refuses to run as root.
  const user = serverUser([]);
  for (const [path, mode] of [
    [folder, 0o755],
    [config, 0o644],
    [users, 0o644],
  ] as const)
    chmodSync(path, mode);
  const child = spawn("pgbouncer", [config], {
    cwd: "/",
    stdio: ["ignore", "pipe", "pipe"],
    ...asUser(user),
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", text => {
      output += text;
    });
  }
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await listening(child, port);
  } catch (error) {
    await stop();
    throw new Error(`pgbouncer: ${(error as Error).message}\n${output}`);
  }
  const address = `127.0.0.1:${port}`;
  return {
    address,
    through(url) {
      const through = new URL(url);
      through.host = address;
      return through.href;
    },
    log: () => output,
    stop,
  };
}
