// An upgrade of the files under a running service: no process of another version serves beside the others, and once none is
// left the service ends as after a crash, so that its supervisor starts the new version.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, cpSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { childEnv } from "../../support/child-env.ts";
import { eventually } from "../../support/eventually.ts";
import { freshDatabase } from "../../support/postgres.ts";
import { makeScratch } from "../../support/scratch.ts";

const checkout = join(import.meta.dirname, "../../..");
const scratch = makeScratch();
const database = await freshDatabase();
const children = new Set<ChildProcess>();
after(async () => {
  for (const child of children) child.kill("SIGKILL");
  await database.drop();
  rmSync(scratch, { recursive: true, force: true });
});

/** A copy of the sources in a folder of its own. */
function copySources(name: string): string {
  const folder = join(scratch, name);
  for (const part of ["src", "package.json"])
    cpSync(join(checkout, part), join(folder, part), { recursive: true });
  symlinkSync(join(checkout, "node_modules"), join(folder, "node_modules"));
  return folder;
}

/** Three processes serve. `told`: what it tells the process that started it, as the launcher does. */
async function start(folder: string) {
  const child = spawn(process.execPath, [join(folder, "src/main.ts")], {
    env: {
      ...childEnv,
      ...{ DATABASE_URL: database.url, SVC_DATA_DIR: join(folder, "data"), PORT: "0" },
      ...{ SVC_HTTP_PROCESSES: "3", SVC_EVALUATORS: "1", SVC_LOG_LEVEL: "debug" },
    },
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  children.add(child);
  const told: unknown[] = [];
  child.on("message", message => told.push(message));
  const logs: { msg: string; process?: number; processId?: number }[] = [];
  createInterface({ input: child.stdout! }).on("line", line => logs.push(JSON.parse(line)));
  const exited = once(child, "exit").then(([code]) => {
    children.delete(child);
    return code as number | null;
  });
  const saying = (text: string) => logs.filter(({ msg }) => msg.includes(text));
  await eventually(() => assert.equal(saying("ready at").length, 1));
  const [, url] = /ready at (\S+)/.exec(saying("ready at")[0]!.msg)!;
  return {
    url,
    told,
    exited,
    saying,
    pids: saying("is serving").map(({ processId }) => processId!),
    stop: () => child.kill("SIGTERM"),
  };
}

const kept = "have changed since it was started";

test("a process that dies is replaced while the files are the same, whatever their times", async () => {
  const folder = copySources("same");
  const service = await start(folder);
  const main = join(folder, "src/main.ts");
  cpSync(main, `${main}.copy`);
  renameSync(`${main}.copy`, main);
  process.kill(service.pids[0]!, "SIGKILL");
  await eventually(() => assert.equal(service.saying("is running again").length, 1));
  assert.deepEqual(service.saying(kept), []);
  service.stop();
  assert.equal(await service.exited, 0);
  assert.deepEqual(service.told, ["ready", "stopping"]);
});

for (const [what, change] of Object.entries<(folder: string) => void>({
  "with other code": folder => appendFileSync(join(folder, "src/service.ts"), "// The next version.\n"),
  "that are half replaced": folder => rmSync(join(folder, "src/http"), { recursive: true }),
})) {
  test(`processes that die are not replaced by files ${what}, and with the last one the service ends`, async () => {
    const folder = copySources(what.replaceAll(" ", "-"));
    const service = await start(folder);
    change(folder);
    for (const [at, pid] of service.pids.entries()) {
      process.kill(pid, "SIGKILL");
      await eventually(() => assert.equal(service.saying(kept).length, at + 1));
      if (at === 2) break;
      const { status } = await fetch(`${service.url}/healthz`);
      assert.equal(status, 200);
    }
    assert.match(
      service.saying(kept).at(-1)!.msg,
      /HTTP process [123] is not replaced, 0 still serving\. Restart/,
    );
    assert.equal(await service.exited, 1);
    assert.deepEqual(service.told, ["ready"]);
  });
}
