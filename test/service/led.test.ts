// What an HTTP process knows of the one that leads, as time passes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Led } from "../../src/service/led.ts";

test("a process is led while it was told something in the last 30 s", () => {
  const led = new Led(3);
  const isLed = (afterMs: number) => led.health(performance.now() + afterMs).isLed;
  assert.deepEqual([isLed(29_000), isLed(31_000)], [true, false]);
  led.hear(2);
  assert.equal(isLed(29_000), true);
  assert.deepEqual(led.health(), { processes: 3, serving: 2, isLed: true });
});
