// Runs the tests on one PostgreSQL of their own and ends with one line: N passed, N failed.
//
//   npm test                                  every test
//   npm test -- test/wire test/config.test.ts those of a folder, a file, a pattern

import { globSync, statSync } from "node:fs";
import { join } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { installBrowser } from "../test/support/chromium.ts";
import { startServer } from "../test/support/postgres-server.ts";
import { buildWhenNeeded } from "./build.ts";

const root = join(import.meta.dirname, "..");
/** Two at once: more only get in each other's way on the small machines these run on. */
const concurrency = 2;
/** For one file. Far beyond what any needs; it ends a file that hangs. */
const timeoutMs = 300_000;

const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => interrupted.abort());
process.stdout.on("error", () => interrupted.abort()); // "npm test | head": nobody reads on

const files = find(process.argv.slice(2));
if (files.some(file => file.includes("/test/e2e/"))) {
  installBrowser();
  await buildWhenNeeded();
}
const counts = files.length === 0 ? { passed: 0, failed: 0 } : await runAll(files);
if (files.length === 0) console.error("There is no such test file.");
if (interrupted.signal.aborted) console.error("Interrupted.");
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exitCode = counts.failed > 0 || counts.passed === 0 || interrupted.signal.aborted ? 1 : 0;

function find(wanted: string[]): string[] {
  const patterns = wanted.length === 0 ? ["test"] : wanted;
  const found = patterns.flatMap(pattern => {
    const isFolder = statSync(join(root, pattern), { throwIfNoEntry: false })?.isDirectory();
    return globSync(isFolder ? join(pattern, "**/*.test.ts") : pattern, { cwd: root });
  });
  return [...new Set(found)].map(file => join(root, file)).sort((a, b) => a.localeCompare(b));
}

async function runAll(files: string[]): Promise<{ passed: number; failed: number }> {
  const given = process.env.SVC_TEST_DATABASE_URL;
  const server = given ? undefined : await startServer();
  if (server) process.env.SVC_TEST_DATABASE_URL = server.url; // the test files inherit it
  const counts = { passed: 0, failed: 0 };
  try {
    const events = run({ files, concurrency, timeout: timeoutMs, cwd: root, signal: interrupted.signal });
    events.on("test:summary", ({ file, counts: all }) => {
      if (file !== undefined) return; // that of one file; the last one is of them all
      counts.passed = all.passed;
      counts.failed = all.tests - all.passed - all.skipped - all.todo; // those cancelled among them
    });
    for await (const text of events.compose(spec)) process.stdout.write(text);
  } finally {
    await server?.stop();
  }
  return counts;
}
