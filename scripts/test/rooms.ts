// Puts test files together that share a process, so that each need not load the service, and says in which order to start them.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { isComponentTest, isPageTest, needsBrowser, root } from "./files.ts";

/** Rooms that would take minutes in one process, and how many processes they have. */
const processesOf: Record<string, number> = { "test/flow": 8, "test/store": 2, "test/e2e/traces": 2 };

/** Wide tests that take longest, so they start first: those that run whole rooms again, and those that set up many machines. */
const longest = [
  ...["cluster/citus-suites", "databases/debian-postgresql", "machines/machines", "machines/conditions"],
  ...["cluster/citus-worker-away", "machines/package", "databases/svc-backup"],
].map(name => `test/wide/${name}.test.ts`);

/** The room whose files share a process; null for files that start processes or change their own. */
function roomOf(file: string): string | null {
  if (isComponentTest(file)) return "components";
  if (/^test\/(?:model|wire|evaluate|web)\//.test(file)) return "pure";
  return (
    /^test\/(?:store|judge|remote|ingest|run|editor|flow|threads|http(?:\/[^/]+)?|e2e\/[^/]+)(?=\/)/.exec(
      file,
    )?.[0] ?? null
  );
}

/** Files that this run writes; another run in the same checkout has its own. */
const generated = join(root, "node_modules", ".cache", "tests", String(process.pid));

export function removeGenerated(): void {
  rmSync(generated, { recursive: true, force: true });
}

/**
 * What to start for these files, in this order: a file that imports all of a room is generated. That saves a process per file:
 * of 374 s of CPU time, the files of these rooms took 250 s together. With `fewTests`, each has its own. All paths are
 * relative to the root.
 */
export function inRooms(files: string[], fewTests = false): string[] {
  const rooms = Map.groupBy(files, file => (fewTests ? null : roomOf(file)));
  const alone = rooms.get(null) ?? [];
  rooms.delete(null);
  const parts = [...rooms].flatMap(([room, members]) => divided(room!, members));
  // Flows mostly wait and browsers compute, so they start in turn; what is short is last, so that no core is idle at the end.
  const [waiting, others] = split(parts, ({ room }) => room === "test/flow");
  const [browsers, short] = split(others, ({ members }) => needsBrowser(members[0]!));
  const long = browsers.flatMap((part, at) => [part, ...waiting.slice(at, at + 1)]);
  const ordered = [...long, ...waiting.slice(browsers.length), ...short];
  const first = longest.filter(file => alone.includes(file));
  const last = alone.filter(file => !longest.includes(file));
  return [...first, ...ordered.map(({ name, members }) => together(name, members)), ...last];
}

type Part = { room: string; name: string; members: string[] };

/** Dealt like cards, so that neighbors, which often are about the same and take as long, are apart. */
function divided(room: string, members: string[]): Part[] {
  const count = Math.min(processesOf[room] ?? 1, members.length);
  return Array.from({ length: count }, (_, part) => ({
    room,
    name: count === 1 ? room : `${room}-${part + 1}`,
    members: members.filter((_, at) => at % count === part),
  }));
}

function split<T>(all: T[], belongs: (one: T) => boolean): [T[], T[]] {
  return [all.filter(belongs), all.filter(one => !belongs(one))];
}

function together(name: string, members: string[]): string {
  if (members.length === 1) return members[0]!;
  mkdirSync(generated, { recursive: true });
  const file = join(generated, `${name.replaceAll("/", "-")}.test.mjs`);
  writeFileSync(file, sourceOf(members).join("\n"));
  return relative(root, file);
}

function sourceOf(members: string[]): string[] {
  // The files of an area share services and Chromium until the process ends; those of other rooms close what they open.
  if (isPageTest(members[0]!)) return members.map(member => `import ${urlOf(join(root, member))};`);
  const suites = members.map(
    file => `await describe(${JSON.stringify(file)}, () => import(${urlOf(join(root, file))}));`,
  );
  return ['import { describe } from "node:test";', ...suites];
}

function urlOf(path: string): string {
  return JSON.stringify(pathToFileURL(path).href);
}
