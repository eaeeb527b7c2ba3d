// Checks types, lint and format, and says which of them failed.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const tool = (name: string, ...args: string[]) => [join(root, "node_modules", ".bin", name), ...args];

const checks: [what: string, command: string[]][] = [
  ["types (tsc)", tool("tsc", "-p", ".")],
  ["types of the dashboard (tsc)", tool("tsc", "-p", "web")],
  ["lint and format (biome)", tool("biome", "check", "--error-on-warnings", ".")],
];

const failed: string[] = [];
for (const [what, [program, ...args]] of checks) {
  const child = spawn(program!, args, { cwd: root, stdio: "inherit" });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) failed.push(what);
}
console.log(failed.length === 0 ? "check: all good" : `check failed: ${failed.join("; ")}`);
process.exitCode = failed.length === 0 ? 0 : 1;
