// The bundle of the service: it contains all that it imports, starts without node_modules, and answers.
import assert from "node:assert/strict";
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { builtinModules } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { buildServer } from "../../scripts/build/server.ts";
import { eventually } from "../support/eventually.ts";
import { freshDatabase } from "../support/postgres.ts";
import { runOnTerminal } from "../support/terminal.ts";

const root = join(import.meta.dirname, "../..");
const scratch = mkdtempSync(join(tmpdir(), "onlooker-bundle-"));
const folder = join(scratch, "dist/server");
const database = await freshDatabase();
before(async () => {
  await buildServer(folder, ".licenses.json");
  cpSync(join(root, "package.json"), join(scratch, "package.json"));
});
after(async () => {
  await database.drop();
  rmSync(scratch, { recursive: true });
});

test("it imports nothing but itself and modules of Node", () => {
  for (const file of globSync("*.js", { cwd: folder })) {
    const code = readFileSync(join(folder, file), "utf8");
    for (const [, name] of code.matchAll(/^(?:import|export) (?:[^"']+ from )?"([^"]+)";$/gm)) {
      const isOwn = name!.startsWith("./");
      assert.ok(isOwn || builtinModules.includes(name!.replace(/^node:/, "")), `${file} imports ${name}`);
    }
  }
});

test("every script and every SQL file that the code names by URL is there", () => {
  const files = globSync("**", { cwd: folder });
  const named = globSync("*.js", { cwd: folder }).flatMap(file => {
    const code = readFileSync(join(folder, file), "utf8");
    return [...code.matchAll(/new URL\("\.\/([^"]+?)\/?", import\.meta\.url\)/g)].map(([, name]) => name!);
  });
  assert.ok(named.length >= 9, `only ${named.join(", ")}`);
  for (const name of named) assert.ok(files.includes(name), name);
  const sqlIn = (path: string) => globSync("**/*.sql", { cwd: path }).length;
  assert.equal(sqlIn(folder), sqlIn(join(root, "src")));
});

test("the service starts from it", async () => {
  const env = { DATABASE_URL: database.url, SVC_DATA_DIR: join(scratch, "data"), PORT: "0" };
  const { output, child, ended } = runOnTerminal([process.execPath, join(folder, "main.js")], env);
  after(() => child.kill("SIGKILL"));
  await eventually(() => assert.match(output(), /Onlooker is ready/));
  const url = /http:\/\/\S+/.exec(output())![0];
  assert.equal((await fetch(`${url}/readyz`)).status, 200);
  child.kill("SIGTERM");
  await ended;
});
