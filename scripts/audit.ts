// npm run audit: fails on high and critical advisories of any dependency that are not allowed, and on licenses of shipped
// packages that are not allowed. The allowed ones are in scripts/audit/allowed.json, or in the file that is given. With --required, as
// for a release, also if the registry cannot be asked.

import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type AllowedAdvisory, type AuditReport, problemsOf } from "./audit/advisories.ts";
import { type Lockfile, licenseProblems, packageOf } from "./audit/licenses.ts";

const root = join(import.meta.dirname, "..");
const isRequired = process.argv.includes("--required");
const given = process.argv.slice(2).find(argument => argument !== "--required");
const allowedFile = given ? resolve(given) : join(root, "scripts/audit/allowed.json");
const allowed = readJson(allowedFile) as { advisories: AllowedAdvisory[]; licenses: string[] };
const lock = readJson(join(root, "package-lock.json")) as Lockfile;

const report = askRegistry();
const problems = [
  ...(isRequired && report === undefined ? ["the registry cannot be asked for advisories"] : []),
  ...problemsOf(report, allowed.advisories, new Date().toISOString().slice(0, 10)),
  ...licenseProblems(lock, importsOf(["src/**/*.ts", "web/**/*.{ts,tsx}"]), allowed.licenses),
];
for (const problem of problems) console.log(problem);
console.log(problems.length === 0 ? "audit: no problem found" : `audit: ${problems.length} found`);
process.exitCode = problems.length === 0 ? 0 : 1;

/** Undefined if the registry cannot be asked, which is printed: mirrors often lack this endpoint. */
function askRegistry(): AuditReport | undefined {
  const npm = process.env.npm_execpath;
  const [command, ...path] = npm?.endsWith(".js") ? [process.execPath, npm] : ["npm"];
  const args = [...path, "audit", "--json", "--package-lock-only", "--fetch-retries=1"];
  const { stdout, stderr, error } = spawnSync(command!, args, {
    cwd: root,
    encoding: "utf8",
    timeout: 120_000,
  });
  const answer = parsed(stdout) as (AuditReport & { message?: string }) | undefined;
  if (answer?.vulnerabilities) return answer;
  const reason = answer?.message ?? error?.message ?? stderr.split("\n", 1)[0];
  console.log(`left out: advisories of dependencies: the registry cannot be asked (${reason})`);
  return undefined;
}

function parsed(text: string | null): unknown {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return undefined;
  }
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, "utf8"));
}

/** The packages that these files import or load. */
function importsOf(patterns: string[]): string[] {
  const names = globSync(patterns, { cwd: root, exclude: ["**/vite.config.ts"] }).flatMap(file => {
    const text = readFileSync(join(root, file), "utf8");
    const imports = /(?:^(?:import|export) (?!type)[^"]*|\b(?:import|require)\()"([^"]+)"/gm;
    const specifiers = [...text.matchAll(imports)].map(match => match[1]!);
    return specifiers.flatMap(specifier => packageOf(specifier) ?? []);
  });
  return [...new Set(names)];
}
