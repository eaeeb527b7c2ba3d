// The limits of compose.yaml and of the systemd unit, without either: the service and its commands run on a read-only file
// system, as an ordinary user without capabilities who cannot gain any, and write only to the data folder and a small /tmp.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { buildWhenNeeded } from "../../../scripts/build.ts";
import { sendFirstTrace, startOnlooker, stopOnlooker } from "../support/onlooker.ts";
import { openThisMachine, type ThisMachine } from "../support/this-machine.ts";

const checkout = join(import.meta.dirname, "../../..");
const unit = join(checkout, "packaging/systemd/onlooker.service");

const succeeds = (program: string, ...args: string[]) =>
  spawnSync(program, args, { stdio: "ignore" }).status === 0;
const skip =
  process.getuid!() !== 0
    ? "needs root, for a file system of its own"
    : !(succeeds("unshare", "--mount", "true") && succeeds("setpriv", "--version")) &&
      "needs unshare and setpriv, and namespaces, which root has outside of containers";

let machine: ThisMachine;
before(async () => {
  machine = await openThisMachine();
  await buildWhenNeeded();
});
after(() => machine.close());

test("read-only, without privileges: it starts, takes a trace, is backed up and stops", {
  skip,
}, async () => {
  const [data, temporary] = [machine.folder("data", "dev"), machine.folder("tmp", "dev")];
  const confine = join(machine.root, "confine");
  // The machine's folder may be on a file system of its own. /dev/shm stays writable, as in a container: PostgreSQL needs it.
  writeFileSync(
    confine,
    `set -e
     mount --bind ${machine.root} ${machine.root}
     mount --bind ${data} ${data}
     mount -t tmpfs -o size=256m,mode=1777 tmpfs ${temporary}
     mount -o remount,bind,ro ${machine.root}
     mount -o remount,bind,ro /
     grep -q '^tmpfs /tmp ' /proc/mounts && mount -o remount,bind,ro /tmp
     if touch ${machine.root}/writable 2>/dev/null; then echo "the file system is writable" >&2; exit 1; fi
     exec setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all --inh-caps=-all --no-new-privs "$@"
    `,
  );
  const confined = (script: string) =>
    `unshare --mount --propagation private sh ${confine} ${process.execPath} ${join(checkout, "src", script)}`;
  const env = { SVC_DATA_DIR: data, TMPDIR: temporary, HOME: "/nonexistent" };
  const onlooker = await startOnlooker(machine, { env }, confined("main.ts"));
  const pid = readdirSync("/proc").find(name => {
    return (
      /^\d+$/.test(name) && commandOf(name).includes(join(checkout, "src/main.ts")) && uidOf(name) === 65_534
    );
  });
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  assert.match(status, /^CapBnd:\t0+$/m);
  assert.match(status, /^CapEff:\t0+$/m);
  assert.match(status, /^NoNewPrivs:\t1$/m);
  await sendFirstTrace(machine, onlooker, { env }, confined("bootstrap.ts"));
  const backup = await machine.run(`${confined("cli.ts")} backup ${join(data, "onlooker.backup")}`, { env });
  assert.equal(backup.code, 0, backup.stderr);
  assert.equal(await stopOnlooker(machine, onlooker), 0);
  assert.deepEqual(readdirSync(data).sort(), ["onlooker.backup", "postgresql", "secret.key"]);
});

function commandOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}

function uidOf(pid: string): number {
  return Number(/^Uid:\t(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

test("compose.yaml and the unit ask for these limits", () => {
  const compose = readFileSync(join(checkout, "compose.yaml"), "utf8");
  for (const line of ["read_only: true", "cap_drop: [ALL]", 'security_opt: ["no-new-privileges:true"]']) {
    assert.ok(compose.includes(`\n  ${line}\n`), line);
  }
  const lines = readFileSync(unit, "utf8").split("\n");
  for (const line of [
    ...["User=onlooker", "ProtectSystem=strict", "NoNewPrivileges=yes", "CapabilityBoundingSet="],
    ...["KillMode=mixed", "TimeoutStopSec=30s", "StateDirectory=onlooker"],
  ]) {
    assert.ok(lines.includes(line), line);
  }
});

const noSystemd =
  !succeeds("systemd-analyze", "--version") && "needs systemd-analyze (apt-get install systemd)";
test("systemd accepts the unit", { skip: noSystemd }, () => {
  // Its program and its user are not on this machine.
  const text = readFileSync(unit, "utf8")
    .replace("/usr/local/bin/onlooker", "/bin/true")
    .replace(/^(User|Group)=onlooker$/gm, "$1=root");
  const path = join(machine.root, "onlooker.service");
  writeFileSync(path, text);
  const { status, stderr } = spawnSync("systemd-analyze", ["verify", path], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  assert.doesNotMatch(stderr, /onlooker\.service/);
});
