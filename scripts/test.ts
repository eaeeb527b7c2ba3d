// Runs the tests on a PostgreSQL of their own. The last line is "N passed, N failed".
//
//   npm test                                  every test except test/wide
//   npm test -- test/wire test/config.test.ts the tests of folders, files or glob patterns
//   npm run test:wide                         test/wide, whose tests use other machines, Node versions or images
//
// Before it, each failed test is listed as "failed: <file>:<line>: <test>", with its message.
// A wide test that this machine cannot run is listed as "left out: <test>: <reason>", neither passed nor failed.

import { globSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { pathToFileURL } from "node:url";
import { installBrowser } from "../test/support/chromium.ts";
import { startServer } from "../test/support/postgres-server.ts";
import { buildWhenNeeded } from "./build.ts";
import { FailedTests } from "./failed-tests.ts";

const root = join(import.meta.dirname, "..");
const args = process.argv.slice(2);
const wide = args.includes("--wide");
/**
 * Test files at a time: four keep two cores busy, since tests often wait for the database, a browser or a timer: with three,
 * a tenth of their time was idle. Wide tests start more processes each, and wait for downloads and timeouts.
 */
const concurrency = wide ? 2 : 4;
/** Wide files that keep both cores busy all the time, or whose limits are times: nothing runs beside them. */
const alone = /^test\/wide\/(?:fuzz|overload|torture)\.test\.ts$/;
/**
 * Timeout of a test, and of a file: see limit-duration.ts. The flows, one file, took 17 minutes on a machine at half speed.
 * Wide files download whole machines first.
 */
const timeoutMinutes = wide ? 45 : 30;

/** The room whose test files run in one process; null for files that start processes or change their own. */
function roomOf(file: string): string | null {
  if (/^test\/(?:model|wire|evaluate|web)\//.test(file)) return "pure";
  return (
    /^test\/(?:store|judge|remote|ingest|run|editor|flow|threads|http(?:\/[^/]+)?)(?=\/)/.exec(file)?.[0] ??
    null
  );
}

/** Files that this run writes; another run in the same checkout has its own. */
const generated = join(root, "node_modules", ".cache", "tests", String(process.pid));

const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => interrupted.abort());
process.stdout.on("error", () => interrupted.abort()); // the reader closed the pipe, as in "npm test | head"

// Each test file is a process, and most load the whole service: 0.75 s of CPU time, or 0.36 s with this cache.
process.env.NODE_COMPILE_CACHE ??= join(root, "node_modules", ".cache", "node-compile");

const files = find(args.filter(arg => arg !== "--wide"));
const leftOut: string[] = [];
const failures = new FailedTests(root);
if (files.some(file => file.includes("/test/e2e/"))) {
  installBrowser();
  await buildWhenNeeded();
}
const durations = new Map<string, number>();
const counts = files.length === 0 ? { passed: 0, failed: 0 } : await runAll(files);
if (files.length === 0) console.error("No such test file.");
if (interrupted.signal.aborted) console.error("Interrupted.");
if (wide && durations.size > 1) listDurations();
for (const line of [...leftOut, ...failures.lines()]) console.log(line);
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
  const chosen = [...files].filter(file => file.startsWith(join(root, "test", "wide", "/")) === wide);
  // The longest first: with short files last no core is idle at the end. The flows mostly wait, so they start beside the
  // browser tests, which compute; of these, the area of the traces takes twice as long as the others.
  const order = (file: string) => {
    if (file.endsWith("/test-flow.test.mjs")) return 0;
    if (file.includes("/test/e2e/traces/")) return 1;
    return file.includes("/test/e2e/") ? 2 : 3;
  };
  return inRooms(chosen).sort((a, b) => order(a) - order(b) || a.localeCompare(b));
}

/**
 * Replaces the files of a room by one that imports them one after the other, each in a suite of its own. That saves a
 * process per file, which loads the service: of 374 s of CPU time, the files of these rooms took 250 s together.
 */
function inRooms(files: string[]): string[] {
  mkdirSync(generated, { recursive: true });
  const rooms = Map.groupBy(files, file => roomOf(relative(root, file)));
  return [...rooms].flatMap(([room, members]) => {
    if (room === null || members.length === 1) return members;
    const together = join(generated, `${room.replaceAll("/", "-")}.test.mjs`);
    writeFileSync(together, `import { describe } from "node:test";\n${members.map(suiteOf).join("")}`);
    return [together];
  });
}

function suiteOf(file: string): string {
  const name = JSON.stringify(relative(root, file));
  return `await describe(${name}, async () => {\n  await import(${JSON.stringify(pathToFileURL(file).href)});\n});\n`;
}

async function runAll(files: string[]): Promise<{ passed: number; failed: number }> {
  const given = process.env.SVC_TEST_DATABASE_URL;
  const server = given ? undefined : await startServer();
  if (server) process.env.SVC_TEST_DATABASE_URL = server.url; // the test files inherit it
  const counts = { passed: 0, failed: 0 };
  try {
    process.env.SVC_TEST_FILE_MINUTES = String(timeoutMinutes);
    const isAlone = (file: string) => alone.test(relative(root, file));
    await runTogether(
      files.filter(file => !isAlone(file)),
      concurrency,
      counts,
    );
    await runTogether(files.filter(isAlone), 1, counts);
  } finally {
    await server?.stop();
    rmSync(generated, { recursive: true, force: true });
  }
  return counts;
}

/** Adds to the counts. */
async function runTogether(
  files: string[],
  concurrency: number,
  counts: { passed: number; failed: number },
): Promise<void> {
  if (files.length === 0 || interrupted.signal.aborted) return;
  const execArgv = ["--import", pathToFileURL(join(root, "test", "support", "limit-duration.ts")).href];
  const limits = { concurrency, timeout: timeoutMinutes * 60_000, signal: interrupted.signal };
  const events = run({ files, cwd: root, execArgv, ...limits });
  events.on("test:summary", ({ file, counts: all, duration_ms: ms }) => {
    if (file !== undefined) {
      durations.set(relative(root, file), ms); // the summary of one file; the last summary covers all files
      return;
    }
    counts.passed += all.passed;
    counts.failed += all.tests - all.passed - all.skipped - all.todo; // including cancelled tests
  });
  events.on("test:pass", ({ name, skip }) => {
    if (typeof skip === "string") leftOut.push(`left out: ${name}: ${skip}`);
  });
  events.on("test:fail", failed => failures.add(failed));
  for await (const text of events.compose(spec)) process.stdout.write(text);
  counts.failed = Math.max(counts.failed, failures.count);
}

/** Which files to start first, or to make faster. */
function listDurations(): void {
  console.log("Seconds of each file:");
  for (const [file, ms] of [...durations].sort(([, one], [, other]) => other - one)) {
    console.log(`${(ms / 1_000).toFixed(0).padStart(6)} ${file}`);
  }
}
