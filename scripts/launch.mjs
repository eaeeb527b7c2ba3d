// Runs one of the project's scripts with the packages of the lockfile and Node 26, installing both when missing.
//
//   node scripts/launch.mjs <script.ts> [arguments]
//
// Plain JavaScript, because the Node that starts it may be as old as 18. All it says goes to standard error.

import { spawn } from "node:child_process";
import {
  accessSync,
  constants,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { constants as osConstants } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const NODE_MAJOR = 26;
const root = fileURLToPath(new URL("..", import.meta.url));
const installing = join(root, ".installing");

/** The lock is refreshed every second; one this old was left by a launch that was killed. */
const LOCK_STALE_MS = 15_000;

/** Scripts that serve the dashboard. */
const serving = ["src/main.ts", "demo/main.ts"];

await main(process.argv[2], process.argv.slice(3));

async function main(script, args) {
  if (script === undefined) fail("usage: node scripts/launch.mjs <script.ts> [arguments]");
  if (!installed(script)) await install(script);
  const node = findNode();
  if (serving.includes(script)) await buildDashboard(node);
  await run(node, [join(root, script), ...args]);
}

/**
 * Whether node_modules holds what package-lock.json asks for, by npm's own record of what it installed.
 * Platform packages count only when this project names them itself (Node and PostgreSQL), and
 * development packages only for scripts outside src/, so that a production install is left as it is.
 */
function installed(script) {
  const wanted = packagesOf(join(root, "package-lock.json"));
  const present = packagesOf(join(root, "node_modules", ".package-lock.json"));
  if (wanted === undefined || present === undefined) return false;
  const named = wanted[""]?.optionalDependencies ?? {};
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === "") return true;
    const found = present[path];
    if (found !== undefined) return found.version === entry.version && found.integrity === entry.integrity;
    if (entry.dev) return script.startsWith("src/") || entry.optional;
    if (!entry.optional) return false;
    return !(path.replace("node_modules/", "") in named && fitsPlatform(entry));
  });
}

function packagesOf(lockfile) {
  try {
    return JSON.parse(readFileSync(lockfile, "utf8")).packages;
  } catch {
    return undefined;
  }
}

/** os and cpu of a lockfile entry are lists, or absent. */
function fitsPlatform({ os = [process.platform], cpu = [process.arch] }) {
  return os.includes(process.platform) && cpu.includes(process.arch);
}

/** Installs once, however many launches arrive together: the others wait and then find it done. */
async function install(script) {
  if (!writable()) {
    fail(
      `packages are missing or outdated and ${root} is not writable for this user: run "npm install" as its owner`,
    );
  }
  let told = false;
  while (!lock()) {
    if (!told) say("another launch is installing the packages, waiting for it");
    told = true;
    await new Promise(resolve => setTimeout(resolve, 200));
  }
  const refresh = setInterval(() => {
    const now = new Date();
    utimesSync(installing, now, now);
  }, 1000);
  const unlock = () => rmSync(installing, { force: true });
  process.once("exit", unlock);
  try {
    if (!installed(script)) await npmInstall();
  } finally {
    clearInterval(refresh);
    process.removeListener("exit", unlock);
    unlock();
  }
}

function lock() {
  try {
    writeFileSync(installing, `${process.pid}\n`, { flag: "wx" });
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
    const since = statSync(installing, { throwIfNoEntry: false })?.mtimeMs;
    if (since !== undefined && Date.now() - since > LOCK_STALE_MS) rmSync(installing, { force: true });
    return false;
  }
}

/**
 * Installs what the lockfile names. Not with "npm ci": that deletes node_modules under whatever still runs from it,
 * and refuses a lockfile that leaves out optional packages for other platforms.
 */
function npmInstall() {
  say("installing the packages of package-lock.json, this takes a minute");
  // npm tells where it lives when it is what started us; under another package manager this is not npm.
  const npm = /npm-cli\.c?js$/.test(process.env.npm_execpath ?? "") ? process.env.npm_execpath : undefined;
  const [command, first] = npm ? [process.execPath, [npm]] : ["npm", []];
  const child = spawn(command, [...first, "install", "--no-save", "--include=dev", "--include=optional"], {
    cwd: root,
    stdio: ["ignore", 2, 2],
    // With "npm --silent" inherited, a failed install would not say why.
    env: { ...process.env, npm_config_loglevel: "error" },
  });
  // A Ctrl-C reaches npm by itself; it ends, and so do we, after the lock is given back.
  const stop = passOn(child);
  return new Promise(resolve => {
    child.once("error", error => fail(`npm cannot be run: ${error.message}`));
    child.once("exit", (code, signal) => {
      stop();
      if (signal !== null) process.exit(128 + osConstants.signals[signal]);
      if (code !== 0) fail(`"npm install" failed with exit code ${code}`);
      resolve();
    });
  });
}

/** The Node that the packages bring, else this one where it is new enough. */
function findNode() {
  const brought = join(root, "node_modules", ".bin", "node");
  try {
    accessSync(brought, constants.X_OK);
    return brought;
  } catch {
    if (Number.parseInt(process.versions.node, 10) >= NODE_MAJOR) return process.execPath;
    return fail(
      `Node ${NODE_MAJOR} is needed, this is ${process.version}, and there is no package of it for ` +
        `${process.platform}-${process.arch}: install Node ${NODE_MAJOR} and start again`,
    );
  }
}

/**
 * Builds the dashboard where its sources have changed since it was built; a production install, which cannot build,
 * serves what is there. The service starts in any case: without the dashboard it still has its API.
 */
async function buildDashboard(node) {
  if (!existsSync(join(root, "node_modules", "vite"))) return;
  const child = spawn(node, [join(root, "scripts", "build.ts"), "--when-needed"], {
    stdio: ["ignore", 2, 2],
  });
  const stop = passOn(child);
  const [code, signal] = await new Promise(resolve => {
    child.once("error", () => resolve([1, null]));
    child.once("exit", (...ended) => resolve(ended));
  });
  stop();
  if (signal !== null) process.exit(128 + osConstants.signals[signal]);
  if (code !== 0) say("the dashboard could not be built, starting with what is there");
}

/** Becomes the script where Node can replace itself, else runs it as a child and ends as it ends. */
async function run(node, args) {
  if (process.execve !== undefined) {
    process.removeAllListeners("warning"); // execve calls itself experimental on some versions
    process.execve(node, [node, ...args], process.env);
  }
  const child = spawn(node, args, { stdio: "inherit" });
  const stop = passOn(child);
  const [code, signal] = await new Promise(resolve => {
    child.once("error", error => fail(`${node} cannot be run: ${error.message}`));
    child.once("exit", (...ended) => resolve(ended));
  });
  stop();
  if (signal !== null) process.kill(process.pid, signal);
  else process.exitCode = code;
}

/**
 * Hands each signal on to the child. Not a Ctrl-C: the terminal sends that to every process in its
 * foreground, so the child has it already. Returns how to stop.
 */
function passOn(child) {
  const handlers = ["SIGINT", "SIGTERM", "SIGHUP"].map(signal => {
    const handler = () => {
      if (!(signal === "SIGINT" && inForeground())) child.kill(signal);
    };
    process.on(signal, handler);
    return [signal, handler];
  });
  return () => {
    for (const [signal, handler] of handlers) process.removeListener(signal, handler);
  };
}

function inForeground() {
  try {
    // pid (name) state ppid pgrp session tty_nr tpgid; a name may hold spaces and brackets.
    const stat = readFileSync("/proc/self/stat", "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[2] === fields[5];
  } catch {
    return process.stdin.isTTY === true; // no /proc on macOS
  }
}

function writable() {
  try {
    accessSync(root, constants.W_OK);
    if (existsSync(join(root, "node_modules"))) accessSync(join(root, "node_modules"), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function say(line) {
  process.stderr.write(`onlooker: ${line}\n`);
}

function fail(line) {
  say(line);
  process.exit(1);
}
