// Some thousand mutants of every path of `npm run fuzz`: none crashes, hangs, or is answered as it should not be.
import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fuzzService } from "../../../fuzz/http.ts";
import { Mutants, paths } from "../../../fuzz/mutant.ts";
import { checkInProcesses } from "../../../fuzz/processes.ts";

const seed = 1;

test("a mutant is the same whenever it is made", () => {
  const [one, other] = [new Mutants(), new Mutants()];
  for (const path of paths) {
    const made = (mutants: Mutants) =>
      Array.from({ length: 20 }, (_, number) => mutants.make(path, seed, number));
    assert.deepEqual(made(one), made(other));
    assert.equal(new Set(made(one).map(({ body }) => body.toString("base64"))).size, 20);
  }
});

for (const path of paths) {
  test(`no mutant of ${path} does what no request may do`, async () => {
    const { checked, findings, codes } = await checkInProcesses({ path, seed, from: 0, to: 8_000 }, 2);
    assert.deepEqual(findings, []);
    assert.equal(checked, 8_000);
    // Mutants that nothing accepts would show nothing.
    assert.ok((codes["OK"] ?? 0) > 1_000, JSON.stringify(codes));
  });
}

test("a running service answers every mutant as documented, and what it accepts can be read", async () => {
  const lines: string[] = [];
  const given = { seed, from: 0, to: 300, paths: [...paths], connections: 4 };
  const reports = await fuzzService(given, line => lines.push(line));
  for (const [path, { checked, findings }] of reports)
    assert.deepEqual([path, checked, findings], [path, 300, []]);
});

test("a service that does not start leaves no database behind", async t => {
  const folder = mkdtempSync(join(tmpdir(), "onlooker-fuzz-test-"));
  chmodSync(folder, 0o711); // for the user that PostgreSQL runs as when the tests run as root
  const { BENCH_DIR: before } = process.env;
  t.after(() => {
    rmSync(folder, { recursive: true, force: true });
    delete process.env.SVC_EVALUATORS;
    delete process.env.BENCH_DIR;
    if (before !== undefined) process.env.BENCH_DIR = before;
  });
  Object.assign(process.env, { SVC_EVALUATORS: "none", BENCH_DIR: folder });
  const given = { seed, from: 0, to: 1, paths: [...paths], connections: 1 };
  await assert.rejects(
    fuzzService(given, () => {}),
    /the service ended with/,
  );
  assert.deepEqual(readdirSync(folder), []);
});
