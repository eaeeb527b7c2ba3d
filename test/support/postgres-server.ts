// One embedded PostgreSQL for a run of the tests, in a temporary folder that goes with it.
import { chmodSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEmbedded } from "../../src/store/embedded.ts";
import { isAlive } from "../../src/store/embedded-folder.ts";

const prefix = "onlooker-test-";
const log = { info() {}, warn: console.error, error: console.error };

/** `url` is that of a superuser on the database `postgres`. */
export async function startServer(): Promise<{ url: string; stop(): Promise<void> }> {
  await removeLeftovers();
  const folder = mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`));
  chmodSync(folder, 0o755); // for the user that PostgreSQL runs as when the tests run as root
  const server = await openEmbedded({ dataDir: join(folder, "data"), log });
  const stop = async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { url: server.url.replace(/[^/]*$/, "postgres"), stop };
}

/** Servers and folders of runs that were killed. Those of another user stay. */
async function removeLeftovers(): Promise<void> {
  for (const name of readdirSync(tmpdir()).filter(name => name.startsWith(prefix))) {
    const pid = Number.parseInt(name.slice(prefix.length), 10);
    if (isAlive(pid)) continue;
    const folder = join(tmpdir(), name);
    try {
      const server = await openEmbedded({ dataDir: join(folder, "data"), log });
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // in use by another run that cleans up, or not ours
    }
  }
}
