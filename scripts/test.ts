// Runs the tests on a PostgreSQL of their own. The last line is "N passed, N failed".
//
//   npm test                                  every test except test/wide
//   npm test -- test/wire test/config.test.ts the tests of folders, files or glob patterns
//   npm test -- --quick                       leaves out those that need a browser
//   npm test -- -t "a resent batch"           the tests whose name contains this text
//   npm test -- --times                       lists the slowest tests; node_modules/.cache/tests/times.json has all
//   npm run test:wide                         test/wide, whose tests use other machines, Node versions or images
//   npm run test:wide -- cluster proxies      groups of them, which are the folders of test/wide
//
// Before the last line, each failed test is listed as "failed: <file>:<line>: <test>", with its message. A wide test that
// this machine cannot run is listed as "left out: <test>: <reason>", neither passed nor failed.

import { join, relative } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { installBrowser } from "../test/support/chromium.ts";
import { startServer } from "../test/support/postgres-server.ts";
import { buildWhenNeeded } from "./build.ts";
import { FailedTests } from "./test/failed-tests.ts";
import { findFiles, needsBrowser, root } from "./test/files.ts";
import { inRooms, removeGenerated } from "./test/rooms.ts";
import { Times } from "./test/times.ts";

const options = {
  quick: { type: "boolean", default: false },
  name: { type: "string", short: "t", default: "" },
  times: { type: "boolean", default: false },
  wide: { type: "boolean", default: false },
} as const;

const { asked, files } = choose();
const { wide } = asked;
/**
 * Test files at a time: four keep two cores busy, since tests often wait for the database, a browser or a timer: with three,
 * a tenth of their time was idle. Wide tests start more processes each.
 */
const concurrency = wide ? 3 : 4;
/** Wide files that keep both cores busy all the time, or whose limits are times: nothing runs beside them. */
const alone = /^test\/wide\/stress\/(?:fuzz|overload|torture)\.test\.ts$/;
/** Timeout of a test, and of a file: see limit-duration.ts. Wide files download whole machines first. */
const timeoutMinutes = wide ? 45 : 30;

const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => interrupted.abort());
process.stdout.on("error", () => interrupted.abort()); // the reader closed the pipe, as in "npm test | head"

// Each test file is a process, and most load the whole service: 0.75 s of CPU time, or 0.36 s with this cache.
process.env.NODE_COMPILE_CACHE ??= join(root, "node_modules", ".cache", "node-compile");

const leftOut: string[] = [];
const failures = new FailedTests(root);
const times = new Times();
let passed = 0;
if (files.some(needsBrowser)) {
  installBrowser();
  await buildWhenNeeded();
}
await runAll();
if (interrupted.signal.aborted) console.error("Interrupted.");
const nothingRan = passed + failures.count + leftOut.length === 0;
if (nothingRan && asked.name !== "") console.error(`No test's name contains "${asked.name}".`);
times.write();
const listed = [...(asked.times ? times.slowest() : []), ...(wide ? times.byGroup() : [])];
for (const line of [...listed, ...leftOut, ...failures.lines()]) console.log(line);
console.log(`${passed} passed, ${failures.count} failed`);
process.exitCode = failures.count > 0 || nothingRan || interrupted.signal.aborted ? 1 : 0;

function choose() {
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    return { asked: values, files: findFiles(positionals, values) };
  } catch (error) {
    console.error((error as Error).message);
    process.exit(1);
  }
}

async function runAll(): Promise<void> {
  const given = process.env.SVC_TEST_DATABASE_URL;
  const server = given ? undefined : await startServer();
  if (server) process.env.SVC_TEST_DATABASE_URL = server.url; // the test files inherit it
  process.env.SVC_TEST_FILE_MINUTES = String(timeoutMinutes);
  try {
    const together = files.filter(file => !alone.test(file));
    await runFiles(inRooms(together, asked.name !== ""), concurrency);
    await runFiles(
      files.filter(file => alone.test(file)),
      1,
    );
  } finally {
    await server?.stop();
    removeGenerated();
  }
}

async function runFiles(paths: string[], concurrency: number): Promise<void> {
  if (paths.length === 0 || interrupted.signal.aborted) return;
  const events = run({
    files: paths.map(path => join(root, path)),
    cwd: root,
    execArgv: ["--import", pathToFileURL(join(root, "test", "support", "limit-duration.ts")).href],
    concurrency,
    timeout: timeoutMinutes * 60_000,
    signal: interrupted.signal,
    ...(asked.name !== "" && { testNamePatterns: new RegExp(RegExp.escape(asked.name)), forceExit: true }),
  });
  const ran = new Set<string>();
  events.on("test:summary", ({ file, duration_ms: ms }) => {
    if (file !== undefined) times.addFile(relative(root, file), ms); // the last one is about all files
  });
  events.on("test:pass", ({ name, skip, todo, file, details: { type, duration_ms: ms } }) => {
    if (typeof skip === "string") leftOut.push(`left out: ${name}: ${skip}`);
    // A file without tests is reported as if it were one.
    if (skip !== undefined || todo !== undefined || type === "suite" || name === file) return;
    passed++;
    ran.add(file!);
    times.addTest(name, relative(root, file!), ms);
  });
  events.on("test:fail", failed => {
    // node:test does not wait for the `before` of a file without chosen tests, so its `after` fails.
    const { failureType } = failed.details.error as { failureType?: string };
    if (asked.name !== "" && failureType === "hookFailed" && !ran.has(failed.file!)) return;
    failures.add(failed);
  });
  for await (const text of events.compose(spec)) process.stdout.write(text);
}
