// npm run bench: what it lists and refuses, and that a benchmark's figures arrive in its table.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { benchmarks } from "../../bench/benchmark.ts";

type Run = { code: number; out: string; err: string };

function bench(...args: string[]): Promise<Run> {
  return new Promise(resolve => {
    const script = join(import.meta.dirname, "../../bench/main.ts");
    const env = { ...process.env, BENCH_ROUNDS: "1" };
    execFile(process.execPath, [script, ...args], { env }, (error, out, err) =>
      resolve({ code: typeof error?.code === "number" ? error.code : 0, out, err }),
    );
  });
}

test("--help lists every benchmark with a line, and an unknown name is answered with the same list", async () => {
  const help = await bench("--help");
  assert.equal(help.code, 0);
  for (const name of Object.keys(benchmarks)) assert.match(help.out, new RegExp(`^  ${name} +\\S`, "m"));
  const unknown = await bench("nonsense");
  assert.deepEqual([unknown.code, unknown.out, unknown.err], [2, "", help.out]);
});

test("a commit that git does not know is refused before anything is measured", async () => {
  const { code, out, err } = await bench("redaction", "--against", "no-such-commit");
  assert.deepEqual([code, out], [1, ""]);
  assert.match(err, /no-such-commit/);
});

test("the figures of all parts stand in one table", async () => {
  const { code, out, err } = await bench("redaction");
  assert.deepEqual([code, err], [0, ""]);
  assert.match(out, /^phone: recall % +\d+(\.\d)? /m);
  assert.match(out, /^prose in 15 languages: µs a KB +\d/m);
});
