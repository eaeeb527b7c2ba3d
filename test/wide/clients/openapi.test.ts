// Tests that the OpenAPI document says what the API does: Schemathesis sends requests generated from it and checks every answer.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { cached } from "../support/cache.ts";
import { lastLines, requireCommand, runCommand } from "../support/command.ts";
import { leftOut } from "../support/needs.ts";
import { type ApiData, startWithData } from "../support/openapi-data.ts";
import { type Description, withIds } from "../support/openapi-ids.ts";

const pythonPackages = ["schemathesis==4.32.5", "openapi-spec-validator==0.9.0"];
const generator = "openapi-typescript@7.13.0";
/** Set another seed, or a larger number of requests for each operation, to search for more. */
const seed = process.env["SCHEMATHESIS_SEED"] ?? "1";
const requests = process.env["SCHEMATHESIS_REQUESTS"] ?? "5";

const python = await leftOut("python", "pypi");
const registry = await leftOut("registry");

suite("the OpenAPI document", () => {
  const folder = mkdtempSync(join(tmpdir(), "onlooker-openapi-"));
  const file = join(folder, "openapi.json");
  let data: ApiData;
  let description: Description;
  before(async () => {
    data = await startWithData();
    description = (await (await fetch(`${data.url}/api/openapi.json`)).json()) as Description;
    writeFileSync(file, JSON.stringify(description));
  });
  after(async () => {
    await data.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test("is valid OpenAPI 3.1", { skip: python }, async () => {
    const { code, stdout, stderr } = await inPython(["openapi_spec_validator", file]);
    assert.equal(code, 0, stdout + stderr);
  });

  test(`becomes types of TypeScript with ${generator}`, { skip: registry }, async () => {
    const packages = await cached("openapi-typescript", { generator }, async folder => {
      const quiet = ["--no-audit", "--no-fund", "--no-save", "--ignore-scripts"];
      await requireCommand("npm", ["install", ...quiet, "--prefix", folder, generator]);
    });
    const types = join(folder, "api.ts");
    const command = join(packages, "node_modules/openapi-typescript/bin/cli.js");
    await requireCommand(process.execPath, [command, file, "--output", types]);
    const text = readFileSync(types, "utf8");
    for (const name of Object.keys(description.components.schemas)) {
      assert.match(text, new RegExp(`^        (${name}|"${name}"): `, "m"));
    }
    const compiler = join(import.meta.dirname, "../../../node_modules/typescript/bin/tsc");
    await requireCommand(process.execPath, [compiler, ...["--noEmit", "--strict", "--ignoreConfig"], types]);
  });

  test(`is true of every answer (seed ${seed}, ${requests} requests for each operation)`, {
    skip: python,
  }, async t => {
    const filled = join(folder, "filled.json");
    writeFileSync(filled, JSON.stringify(withIds(description, data.ids, data.values)));
    const settings = join(import.meta.dirname, "../support/schemathesis");
    const config = join(settings, "schemathesis.toml");
    const options = ["--seed", seed, "--max-examples", requests, "--generation-database", "none"];
    const { code, stdout, stderr } = await inPython(
      ["schemathesis.cli", "--no-color", "--config-file", config, "run", filled, ...options],
      { ...data.variables, HOOKS: join(settings, "hooks.py") },
    );
    assert.equal(code, 0, stdout + stderr);
    const [cases = ""] = /\d+ generated, .*/.exec(stdout) ?? [];
    t.diagnostic(cases);
    assert.ok(Number.parseInt(cases, 10) > 3_000, lastLines(stdout));
    assert.deepEqual(data.errors(), []);
  });
});

/** Runs a Python module to its end, in an empty folder. */
async function inPython([module = "", ...options]: string[], variables: Record<string, string> = {}) {
  const packages = await cached("schemathesis", { pythonPackages }, async folder => {
    const quiet = ["--quiet", "--disable-pip-version-check", "--root-user-action=ignore"];
    await requireCommand("python3", [
      "-m",
      "pip",
      "install",
      ...quiet,
      "--target",
      folder,
      ...pythonPackages,
    ]);
  });
  const cwd = mkdtempSync(join(tmpdir(), "onlooker-schemathesis-"));
  try {
    const env = { ...process.env, ...variables, PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: "1" };
    return await runCommand("python3", ["-m", module, ...options], { cwd, env });
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}
