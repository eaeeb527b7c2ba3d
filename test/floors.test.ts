// The floors of src/: imports go down only, and rooms on one floor never meet.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

/** From the ground up. A room is a folder, a file in src/, or both with the same name. */
const floors = [
  ["model"],
  ["reading"],
  ["redaction"],
  ["wire", "evaluate", "embedded", "threads"],
  ["store", "remote"],
  ["ingest", "judge", "load", "claiming", "backup"],
  ["run", "trace-reader"],
  ["http", "editor", "worker", "launcher", "jobs"],
  ["service", "config", "command", "main", "bootstrap", "cli"],
];

/** The rooms of the top floor start the others, so they may import each other. */
const top = floors.at(-1)!;

type Import = { path: string; typeOnly: boolean };

/** `path` is relative to src/. Files loaded by URL, such as those of threads, count as imported. */
function importsOf(file: string, source: string): Import[] {
  const pattern =
    /^(?:import|export)\s(?<type>type\s)?[^"';]*?from\s*"(?<from>\.[^"]+)"|\b(?:import|URL)\(\s*"(?<called>\.[^"]+)"|^import\s+"(?<bare>\.[^"]+)"/gm;
  return [...source.matchAll(pattern)].map(({ groups }) => ({
    path: join(file, "..", (groups!["from"] ?? groups!["called"] ?? groups!["bare"])!),
    typeOnly: groups!["type"] !== undefined,
  }));
}

function roomOf(path: string): string {
  return path.split("/")[0]!.replace(/\.ts$/, "");
}

function floorOf(room: string): number {
  return floors.findIndex(rooms => rooms.includes(room));
}

/** What is wrong with this import, in one sentence, or undefined. */
function breach(file: string, { path, typeOnly }: Import): string | undefined {
  const [from, to] = [roomOf(file), roomOf(path)];
  if (from === to || path.startsWith("..")) return undefined;
  if (to === "log" || from === "log") return undefined;
  if (typeOnly && (to === "config" || (from === "http" && to === "editor"))) return undefined;
  if (top.includes(from) && top.includes(to)) return undefined;
  const lost = [from, to].find(room => floorOf(room) === -1);
  if (lost !== undefined) return `${file} imports ${path}: ${lost} is on no floor`;
  return floorOf(to) < floorOf(from) ? undefined : `${file} imports ${path}, which is not on a lower floor`;
}

const root = join(import.meta.dirname, "..", "src");
const files = globSync("**/*.ts", { cwd: root });

test("every import in src/ goes down, and no two rooms on one floor meet", () => {
  assert.ok(files.length > 10, "src/ was found");
  const breaches = files.flatMap(file =>
    importsOf(file, readFileSync(join(root, file), "utf8")).flatMap(imported => breach(file, imported) ?? []),
  );
  assert.deepEqual(breaches, []);
});

/** By file: the files that it imports, types included. */
const graph = new Map(
  files.map(file => {
    const imports = importsOf(file, readFileSync(join(root, file), "utf8")).map(({ path }) => path);
    return [file, imports.filter(path => files.includes(path))] as const;
  }),
);

test("no files of src/ import each other in a circle", () => {
  assert.deepEqual(circlesIn(graph), []);
});

/** A folder of a room, or a file in it that has no folder of its name. */
function subRoomOf(path: string): string {
  return path.replace(/\.ts$/, "").split("/").slice(0, 2).join("/");
}

/** Pairs of sub-rooms that import each other, with the smaller number of imports. */
function pairsIn(imports: Map<string, string[]>): string[] {
  const arrows = new Set(
    [...imports].flatMap(([from, paths]) => paths.map(to => `${subRoomOf(from)} ${subRoomOf(to)}`)),
  );
  return [...arrows].filter(arrow => {
    const [from, to] = arrow.split(" ") as [string, string];
    return from < to && arrows.has(`${to} ${from}`);
  });
}

test("no two sub-rooms of src/ import each other", () => {
  assert.deepEqual(pairsIn(graph), []);
});

test("the checks find circles of files and pairs of sub-rooms", () => {
  const circle = new Map([
    ["model/a.ts", ["model/b/c.ts"]],
    ["model/b/c.ts", ["model/d.ts"]],
    ["model/d.ts", ["model/a.ts", "model/e.ts"]],
    ["model/e.ts", []],
  ]);
  assert.deepEqual(circlesIn(circle), [["model/a.ts", "model/b/c.ts", "model/d.ts"]]);
  assert.deepEqual(pairsIn(circle), []);
  const pair = new Map([
    ["store/a/one.ts", ["store/b/one.ts"]],
    ["store/b/two.ts", ["store/a/two.ts", "store/b.ts"]],
  ]);
  assert.deepEqual(circlesIn(pair), []);
  assert.deepEqual(pairsIn(pair), ["store/a store/b"]);
});

/** Groups of files each of which reaches all others of its group (Tarjan's algorithm). */
function circlesIn(imports: Map<string, string[]>): string[][] {
  const indices = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const circles: string[][] = [];
  const visit = (file: string) => {
    indices.set(file, indices.size);
    lowest.set(file, indices.get(file)!);
    open.push(file);
    for (const next of imports.get(file) ?? []) {
      if (!indices.has(next)) visit(next);
      if (open.includes(next)) lowest.set(file, Math.min(lowest.get(file)!, lowest.get(next)!));
    }
    if (lowest.get(file) !== indices.get(file)) return;
    const circle = open.splice(open.indexOf(file));
    if (circle.length > 1) circles.push(circle.toSorted());
  };
  for (const file of imports.keys()) if (!indices.has(file)) visit(file);
  return circles;
}

test("every file of src/ starts with a comment that says what it does", () => {
  const silent = files.filter(file => !/^\/(?:\/|\*)/.test(readFileSync(join(root, file), "utf8")));
  assert.deepEqual(silent, []);
});

const web = join(root, "..", "web");
const webFiles = globSync("**/*.{ts,tsx}", { cwd: web });

const isResponseSchema = (path: string) => /(?:^|[/-])schemas\.ts$/.test(path);

/** Tables that the dashboard shows as well. They import nothing. */
const shared = ["../src/model/refusals.ts"];

/** What is wrong with the dashboard's import, or undefined: types may come from the model and the response schemas. */
function webBreach(file: string, { path, typeOnly }: Import): string | undefined {
  if (!path.startsWith("..")) return undefined;
  if (shared.includes(path) || (typeOnly && path.startsWith("../src/model/"))) return undefined;
  if (typeOnly && path.startsWith("../src/http/") && isResponseSchema(path)) return undefined;
  return `web/${file} imports ${path}`;
}

test("the dashboard imports from src/ only shared tables, and types of the model and the API's response schemas", () => {
  assert.ok(webFiles.length > 30, "web/ was found");
  for (const path of shared) assert.deepEqual(importsOf(path, readFileSync(join(web, path), "utf8")), []);
  const breaches = webFiles.flatMap(file =>
    importsOf(file, readFileSync(join(web, file), "utf8")).flatMap(
      imported => webBreach(file, imported) ?? [],
    ),
  );
  assert.deepEqual(breaches, []);
  const forbidden = [
    'import { maskKey } from "../../src/model/key.ts";',
    'import type { Key } from "../../src/store/keys.ts";',
    'const page = import("../../src/http/page.ts");',
    'import { Key } from "../../src/http/projects/schemas.ts";',
    'import type { App } from "../../src/http/deps.ts";',
  ];
  for (const source of forbidden) {
    assert.equal(
      importsOf("pages/KeysPage.tsx", source).filter(one => webBreach("x", one)).length,
      1,
      source,
    );
  }
});

test("response schemas import only the model and each other, so the dashboard compiles with them", () => {
  const schemas = files.filter(file => file.startsWith("http/") && isResponseSchema(file));
  assert.ok(schemas.length > 5, "schemas were found");
  const breaches = schemas.flatMap(file =>
    importsOf(file, readFileSync(join(root, file), "utf8"))
      .filter(({ path }) => roomOf(path) !== "model" && !isResponseSchema(path))
      .map(({ path }) => `${file} imports ${path}`),
  );
  assert.deepEqual(breaches, []);
});

test("every file of web/ starts with a comment that says what it does", () => {
  const silent = webFiles.filter(file => !readFileSync(join(web, file), "utf8").startsWith("// "));
  assert.deepEqual(silent, []);
});

test("the check finds a violation in every form of import", () => {
  const source = [
    'import { a } from "../store/keys.ts";',
    'import type { B } from "../http/app.ts";',
    'import {\n  c,\n  d,\n} from "../evaluate/evaluate.ts";',
    'export { e } from "../remote/judge.ts";',
    'import "../worker.ts";',
    'const f = await import("../run.ts");',
    'const g = new Worker(new URL("../ingest/thread.ts", import.meta.url));',
    'import { readConfig } from "../config.ts";',
    'import { h } from "../helpers.ts";',
  ].join("\n");
  const imports = importsOf("wire/body.ts", source);
  assert.equal(imports.length, 9);
  assert.equal(imports.filter(imported => breach("wire/body.ts", imported) !== undefined).length, 9);
});

test("the check accepts imports of lower floors, of the same room, and of the Config type", () => {
  const source = [
    'import { z } from "zod";',
    'import type { Trace } from "../model/trace.ts";',
    'import { otlp } from "./otlp.ts";',
    'import type { Bounds } from "../config.ts";',
  ].join("\n");
  const imports = importsOf("wire/body.ts", source);
  assert.equal(imports.length, 3);
  assert.deepEqual(
    imports.flatMap(imported => breach("wire/body.ts", imported) ?? []),
    [],
  );
});
