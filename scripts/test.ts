// Runs the tests on a PostgreSQL of their own. The last line is "N passed, N failed".
//
//   npm test                                  every test except test/wide
//   npm test -- test/wire test/config.test.ts the tests of folders, files or glob patterns
//   npm run test:wide                         test/wide, whose tests use other machines, Node versions or images
//
// A wide test that this machine cannot run is listed as "left out: <test>: <reason>", neither passed nor failed.

import { globSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { pathToFileURL } from "node:url";
import { installBrowser } from "../test/support/chromium.ts";
import { startServer } from "../test/support/postgres-server.ts";
import { buildWhenNeeded } from "./build.ts";

const root = join(import.meta.dirname, "..");
const args = process.argv.slice(2);
const wide = args.includes("--wide");
/**
 * Test files at a time: three keep two cores busy, since tests often wait for the database, a browser or a timer (4,105
 * tests took 10.3 minutes, and 11.6 with two files at a time). A wide test uses both cores.
 */
const concurrency = wide ? 1 : 3;
/** Timeout of one file, which ends files that hang. Wide files download whole machines first. */
const timeoutMs = wide ? 2_700_000 : 1_200_000;

const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => interrupted.abort());
process.stdout.on("error", () => interrupted.abort()); // the reader closed the pipe, as in "npm test | head"

// Each test file is a process, and most load the whole service: 0.75 s of CPU time, or 0.36 s with this cache.
process.env.NODE_COMPILE_CACHE ??= join(root, "node_modules", ".cache", "node-compile");

const files = find(args.filter(arg => arg !== "--wide"));
const leftOut: string[] = [];
if (files.some(file => file.includes("/test/e2e/"))) {
  installBrowser();
  await buildWhenNeeded();
}
const counts = files.length === 0 ? { passed: 0, failed: 0 } : await runAll(files);
if (files.length === 0) console.error("No such test file.");
if (interrupted.signal.aborted) console.error("Interrupted.");
for (const line of leftOut) console.log(line);
console.log(`${counts.passed} passed, ${counts.failed} failed`);
const nothingRan = counts.passed === 0 && leftOut.length === 0;
process.exitCode = counts.failed > 0 || nothingRan || interrupted.signal.aborted ? 1 : 0;

function find(wanted: string[]): string[] {
  const patterns = wanted.length === 0 ? [wide ? "test/wide" : "test"] : wanted;
  const found = patterns.flatMap(pattern => {
    const isFolder = statSync(join(root, pattern), { throwIfNoEntry: false })?.isDirectory();
    return globSync(isFolder ? join(pattern, "**/*.test.ts") : pattern, { cwd: root });
  });
  const files = new Set(found.map(file => join(root, file)));
  let chosen = [...files].filter(file => file.startsWith(join(root, "test", "wide", "/")) === wide);
  if (wanted.length === 0 && !wide) chosen = withOneProcess(chosen);
  // Browser tests first: they take longest, and with short files last no core is idle at the end.
  const isLong = (file: string) => file.includes("/test/e2e/");
  return chosen.sort((a, b) => Number(isLong(b)) - Number(isLong(a)) || a.localeCompare(b));
}

/** Replaces the files of rooms without I/O by one that imports them all: they share no state, and 52 start-ups are saved. */
function withOneProcess(files: string[]): string[] {
  const isPure = (file: string) => /\/test\/(?:model|wire|evaluate|web)\//.test(file);
  const folder = join(root, "node_modules", ".cache", "tests");
  const together = join(folder, "pure.test.mjs");
  mkdirSync(folder, { recursive: true });
  const imports = files.filter(isPure).map(file => `import ${JSON.stringify(pathToFileURL(file).href)};\n`);
  writeFileSync(together, imports.join(""));
  return [together, ...files.filter(file => !isPure(file))];
}

async function runAll(files: string[]): Promise<{ passed: number; failed: number }> {
  const given = process.env.SVC_TEST_DATABASE_URL;
  const server = given ? undefined : await startServer();
  if (server) process.env.SVC_TEST_DATABASE_URL = server.url; // the test files inherit it
  const counts = { passed: 0, failed: 0 };
  try {
    const events = run({ files, concurrency, timeout: timeoutMs, cwd: root, signal: interrupted.signal });
    events.on("test:summary", ({ file, counts: all }) => {
      if (file !== undefined) return; // the summary of one file; the last summary covers all files
      counts.passed = all.passed;
      counts.failed = all.tests - all.passed - all.skipped - all.todo; // including cancelled tests
    });
    events.on("test:pass", ({ name, skip }) => {
      if (typeof skip === "string") leftOut.push(`left out: ${name}: ${skip}`);
    });
    for await (const text of events.compose(spec)) process.stdout.write(text);
  } finally {
    await server?.stop();
  }
  return counts;
}
