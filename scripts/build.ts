// Builds what the npm package and the image contain: the dashboard in dist/web (or SVC_DASHBOARD_DIR), compressed, the
// service in dist/server, and the licenses of their packages. Fails if the dashboard exceeds its budgets.
//
//   npm run build                            all of it
//   node scripts/build.ts --when-needed      the dashboard alone, if its sources have changed since the last build
//   … --verbose                              prints the size of every file of the dashboard

import { createHash } from "node:crypto";
import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";

const root = join(import.meta.dirname, "..");
/** In the checkout: nothing else is there. */
const ownFolder = join(root, "dist", "web");
// As config.ts reads it: an empty or blank variable counts as absent.
const built = resolve(root, process.env["SVC_DASHBOARD_DIR"]?.trim() || ownFolder);
/** Written last, so that it marks a complete build. Contains the fingerprint of the sources. */
const stamp = ".sources";
/** Lists the licenses of the packages in a build. Not served either, with this name. */
const licenses = ".licenses.json";

/** Kilobytes after gzip: JavaScript of the first load, all styles, and each part that is loaded later. */
const budgets = { initial: 160, styles: 25, lazy: 60 };

if (process.argv[1] === import.meta.filename) {
  await (process.argv.includes("--when-needed") ? buildWhenNeeded() : buildRelease());
}

/** Builds unless the existing build is from the current sources. Throws if the build fails. */
export async function buildWhenNeeded(): Promise<void> {
  if (builtFrom() !== fingerprint()) await build();
}

async function buildRelease(): Promise<void> {
  await build();
  const server = join(root, "dist", "server");
  const { buildServer } = await import("./build/server.ts");
  await buildServer(server, licenses);
  const { noticesOf } = await import("./build/notices.ts");
  const notices = noticesOf([built, server].map(folder => join(folder, licenses)));
  writeFileSync(join(root, "dist", "THIRD-PARTY-NOTICES.md"), notices);
}

async function build(): Promise<void> {
  requireOwnFolder();
  const started = performance.now();
  const sources = fingerprint();
  const outDir = join(dirname(built), `.web-${process.pid}`);
  try {
    const vite = await import("vite");
    await vite.build({
      configFile: join(root, "web", "vite.config.ts"),
      // By default Vite compiles its configuration into a file beside it, which fails in a read-only checkout.
      configLoader: "native",
      logLevel: "warn",
      build: { outDir, emptyOutDir: true, license: { fileName: licenses } },
    });
    checkSizes(outDir);
    compress(outDir);
    writeFileSync(join(outDir, stamp), sources);
    publish(outDir);
  } finally {
    rmSync(outDir, { recursive: true, force: true });
  }
  console.log(`dashboard built in ${((performance.now() - started) / 1000).toFixed(1)} s`);
}

/** Throws if the folder has files of others, which publishing would delete. */
function requireOwnFolder(): void {
  const dataDir = resolve(root, process.env["SVC_DATA_DIR"]?.trim() || "data");
  const isShared = relative(built, dataDir).split(sep)[0] !== "..";
  const isFull = existsSync(built) && readdirSync(built).length > 0;
  const hasOthers = built !== ownFolder && isFull && builtFrom() === undefined;
  if (!isShared && !hasOthers) return;
  const problem = isShared ? "contains the data folder" : "contains other files than a build";
  throw new Error(`${built} ${problem}. Set SVC_DASHBOARD_DIR to a folder for the dashboard alone.`);
}

function builtFrom(): string | undefined {
  try {
    return readFileSync(join(built, stamp), "utf8");
  } catch {
    return undefined;
  }
}

/** A hash of all sources of the build. */
function fingerprint(): string {
  const files = globSync(["web/**/*.*", "src/model/**/*.ts", "scripts/build.ts", "package-lock.json"], {
    cwd: root,
  });
  const hash = createHash("sha256");
  for (const file of files.sort())
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update("\0");
  return hash.digest("hex");
}

type Manifest = Record<string, { file: string; isEntry?: boolean; imports?: string[]; css?: string[] }>;

/** Throws if a size exceeds its budget; with --verbose, prints all sizes. */
function checkSizes(outDir: string): void {
  const manifest: Manifest = JSON.parse(readFileSync(join(outDir, ".vite", "manifest.json"), "utf8"));
  const kilobytes = (file: string) => gzipSync(readFileSync(join(outDir, file)), { level: 9 }).length / 1000;
  const initial = new Set<string>(globSync("assets/theme-first*.js", { cwd: outDir }));
  const visit = (name: string) => {
    const { file, imports = [] } = manifest[name]!;
    if (initial.has(file)) return;
    initial.add(file);
    imports.forEach(visit);
  };
  for (const [name, { isEntry }] of Object.entries(manifest)) if (isEntry) visit(name);
  const sum = (files: Iterable<string>) => [...files].reduce((total, file) => total + kilobytes(file), 0);
  const lazy = globSync("assets/*.js", { cwd: outDir }).filter(file => !initial.has(file));
  const sizes: [what: string, size: number, budget: number][] = [
    ["initial JavaScript", sum(initial), budgets.initial],
    ["styles", sum(globSync("assets/*.css", { cwd: outDir })), budgets.styles],
    ...lazy.map((file): [string, number, number] => [file, kilobytes(file), budgets.lazy]),
  ];
  const line = ([what, size, budget]: (typeof sizes)[number]) =>
    `${size.toFixed(1).padStart(7)} of ${budget} kB  ${what}`;
  if (process.argv.includes("--verbose")) console.log(sizes.map(line).join("\n"));
  const exceeded = sizes.filter(([, size, budget]) => size > budget);
  if (exceeded.length > 0) {
    throw new Error(`The dashboard exceeds its budget:\n${exceeded.map(line).join("\n")}`);
  }
}

/** Writes gzip and Brotli variants next to each file. */
function compress(outDir: string): void {
  for (const file of globSync("**/*.{js,css,html,svg}", { cwd: outDir })) {
    const bytes = readFileSync(join(outDir, file));
    writeFileSync(join(outDir, `${file}.gz`), gzipSync(bytes, { level: 9 }));
    writeFileSync(join(outDir, `${file}.br`), brotliCompressSync(bytes));
  }
}

/** Swaps the folders by renaming, so that readers never see a partial build. */
function publish(outDir: string): void {
  const old = `${outDir}-old`;
  mkdirSync(built, { recursive: true });
  renameSync(built, old);
  renameSync(outDir, built);
  rmSync(old, { recursive: true });
}
