// Prepares what `npm pack` puts into the package: src/ as JavaScript in lib/, and the built dashboard.
//
//   node scripts/pack.ts              npm runs it before "npm pack" and "npm publish"
//   node scripts/pack.ts --clean      and this after them

import { chmodSync, copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join } from "node:path";
import { buildWhenNeeded } from "./build.ts";

const root = join(import.meta.dirname, "..");
const lib = join(root, "lib");

if (process.argv[1] === import.meta.filename) {
  clean();
  if (!process.argv.includes("--clean")) {
    await buildWhenNeeded();
    compile();
    chmodSync(join(root, "bin/onlooker.mjs"), 0o755);
  }
}

function clean(): void {
  rmSync(lib, { recursive: true, force: true });
}

/** Node runs no TypeScript below node_modules. */
function compile(): void {
  // Node prints once that this function is experimental.
  process.removeAllListeners("warning");
  for (const file of globSync("**/*.{ts,sql}", { cwd: join(root, "src") })) {
    const [from, to] = [join(root, "src", file), join(lib, file.replace(/\.ts$/, ".js"))];
    mkdirSync(dirname(to), { recursive: true });
    if (file.endsWith(".sql")) copyFileSync(from, to);
    else writeFileSync(to, javascriptOf(readFileSync(from, "utf8")));
  }
}

/**
 * The source without its types, which become spaces, and with relative paths that end in .js: every line and column of a
 * stack trace is that of the source.
 */
export function javascriptOf(source: string): string {
  const stripped = stripTypeScriptTypes(source);
  return stripped.replaceAll(/(["'])(\.{1,2}\/[^"'\n]+)\.ts\1/g, "$1$2.js$1");
}
