// Tests how `npm run torture` counts what it has reached, and paces its faults by it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { missing, progress, shares } from "../../torture/goals.ts";
import { Ledger } from "../../torture/ledger.ts";

function ledgerWith(races: number, acknowledgements: number): Ledger {
  return Object.assign(new Ledger(), { races, acknowledgements });
}

const goals = { kills: 10, failovers: 2, races: 50, acknowledgements: 1_000 };
const deeds = new Map([
  ["kill", 3],
  ["move-clock", 4],
  ["fail-over", 1],
  ["cut", 90],
]);

test("faults have come as far as all of them together, clients as far as what they lack most", () => {
  assert.deepEqual(progress(goals, ledgerWith(5, 900), deeds), { faults: 8 / 12, clients: 0.1 });
  assert.deepEqual(progress(goals, ledgerWith(50, 2_000), deeds), { faults: 8 / 12, clients: 1 });
  assert.deepEqual(progress({ races: 50 }, ledgerWith(25, 0), deeds), { faults: undefined, clients: 0.5 });
});

test("a goal that is not reached is told with what is", () => {
  assert.deepEqual(missing(goals, ledgerWith(50, 999), deeds), [
    "kills: 7 of 10",
    "failovers: 1 of 2",
    "acknowledgements: 999 of 1000",
  ]);
});

test("a fault is chosen as often as its goal still needs it", () => {
  const [kill, failOver, cut] = shares(["kill", "fail-over", "cut"], goals, ledgerWith(0, 0), deeds);
  assert.deepEqual([kill, failOver], [3, 1]);
  assert.ok(cut! > 0 && cut! < failOver!, `${cut}`);
});
