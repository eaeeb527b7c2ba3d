// Runs are weighed by their tests and checks, as traces are by their size.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestCase } from "../../src/model/test-case/document.ts";
import { runBytes } from "../../src/run/heap.ts";
import { defaultTraceLimits, traceHeapBytes } from "../../src/threads/heap.ts";

test("128 runs of 400 tests with 100 checks do not fit on a thread together, and 128 of 20 tests with 5 checks do", () => {
  const bytesOf = (tests: number, checks: number) =>
    128 *
    runBytes(
      { detail: null },
      Array.from({ length: tests }, () => ({ assertions: Array(checks).fill({}) }) as unknown as TestCase),
    );
  const room = traceHeapBytes(defaultTraceLimits);
  assert.ok(bytesOf(400, 100) > 2 * room);
  assert.ok(bytesOf(20, 5) < room / 50);
});
