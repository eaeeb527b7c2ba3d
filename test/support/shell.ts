// Runs shell commands that a user would copy from the dashboard. Without curl on the machine, curl.ts takes its place.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

const defineCurl = `command -v curl >/dev/null || curl() { "$TEST_NODE" "$TEST_CURL" "$@"; }`;
const env = { TEST_NODE: process.execPath, TEST_CURL: join(import.meta.dirname, "curl.ts") };

/** Resolves with standard output. Rejects when the last command fails. */
export async function runInShell(commands: string): Promise<string> {
  const options = { env: { ...process.env, ...env } };
  const { stdout } = await promisify(execFile)("sh", ["-c", `${defineCurl}\n${commands}`], options);
  return stdout;
}
