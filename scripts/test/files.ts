// Finds the test files that a run was asked for: by folder, file, glob pattern, group of wide tests, or part of a test's name.
import { globSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";

export const root = join(import.meta.dirname, "../..");

const wideFolder = join("test", "wide");

/** Folders of test/wide whose files are tests, such as "databases". */
export const groups = readdirSync(join(root, wideFolder), { withFileTypes: true })
  .filter(entry => entry.isDirectory() && entry.name !== "support")
  .map(entry => entry.name);

/** The group of a wide test file, given relative to the root. */
export function groupOf(file: string): string {
  return file.split("/")[2]!;
}

/** Of whole pages in a browser, on a running service. */
export function isPageTest(file: string): boolean {
  return file.startsWith("test/e2e/") && !isComponentTest(file);
}

/** Of what a page shows in a browser, without the service. */
export function isComponentTest(file: string): boolean {
  return /\.component\.test\.tsx?$/.test(file);
}

export function needsBrowser(file: string): boolean {
  return isPageTest(file) || isComponentTest(file);
}

export type Choice = { wide?: boolean | undefined; quick?: boolean | undefined; name?: string | undefined };

/** Throws what to tell the user if something was asked for that does not exist. */
export function findFiles(
  wanted: string[],
  { wide = false, quick = false, name = "" }: Choice = {},
): string[] {
  const patterns = wanted.length === 0 ? [wide ? wideFolder : "test"] : wanted;
  const found = new Set(patterns.flatMap(pattern => matching(pattern, wide)));
  const files = [...found]
    .sort((one, other) => one.localeCompare(other))
    .filter(file => file.startsWith(`${wideFolder}/`) === wide && !(quick && needsBrowser(file)));
  if (files.length === 0) throw new Error("No such test file.");
  if (name === "") return files;
  const named = filesWithName(files, name);
  if (named.length === 0) throw new Error(`No test's name contains "${name}".`);
  return named;
}

/** Relative to the root. */
function matching(pattern: string, wide: boolean): string[] {
  const path =
    wide && groups.includes(pattern) ? join(wideFolder, pattern) : relative(root, resolve(root, pattern));
  const isFolder = statSync(join(root, path), { throwIfNoEntry: false })?.isDirectory();
  const files = globSync(isFolder ? join(path, "**/*.test.{ts,tsx}") : path, { cwd: root });
  if (files.length > 0) return files;
  throw new Error(
    wide
      ? `No such wide test: ${pattern}. The groups are ${groups.join(", ")}.`
      : `No such test file: ${pattern}`,
  );
}

/** What begins a test's name in a source. */
const beginsName = /\b(?:test|it|describe|suite)\(\s*["'`]/;

/**
 * Those in whose source a test has the text in its name. Where none has, names may be made of parts: those with the text
 * anywhere, or else with each of its words.
 */
function filesWithName(files: string[], name: string): string[] {
  const sources = files.map(file => ({ file, source: readFileSync(join(root, file), "utf8") }));
  const inName = new RegExp(`${beginsName.source}[^\n]*${RegExp.escape(name)}`);
  const having = (found: (source: string) => boolean) =>
    sources.filter(({ source }) => found(source)).map(({ file }) => file);
  const named = having(source => inName.test(source));
  if (named.length > 0) return named;
  const whole = having(source => source.includes(name));
  return whole.length > 0 ? whole : having(source => name.split(/\s+/).every(word => source.includes(word)));
}
