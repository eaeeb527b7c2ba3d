// How the judge's bench asks: as runs do, so that what it finds is what a run would.
import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import pino from "pino";
import type { Sets } from "../../bench/judge/sets.ts";
import { tryOut } from "../../bench/judge/trial.ts";
import { openJudgeClient } from "../../src/remote/judge/client.ts";
import {
  askedOf,
  completion,
  labelsOf,
  obliging,
  refusal,
  startJudgeServer,
  verdictsOf,
} from "../support/judge-server.ts";
import { standingClock } from "../support/standing-clock.ts";

const server = await startJudgeServer();
after(() => server.close());
beforeEach(() => {
  server.requests.length = 0;
  server.script = obliging();
});

const routing: Sets["routing"] = [
  {
    kind: "routing",
    about: "a test",
    scenarios: { parcel: "A parcel.", refund: "A refund." },
    inputs: [{ text: "Where is my parcel?", relevant: ["parcel"], near: ["refund"], either: [], tags: [] }],
  },
];
const semantic: Sets["semantic"] = [
  {
    kind: "semantic",
    about: "a test",
    cases: [
      {
        ...{ scenario: "A parcel.", input: "Where is it?", reply: "It is in Lyon.", tags: [] },
        criteria: [
          { criterion: "Names a city.", met: true },
          { criterion: "Names a day.", met: false },
        ],
      },
    ],
  },
];

function trial(sets: Partial<Sets>, patienceMs = 300_000) {
  const time = standingClock();
  const client = openJudgeClient(server.connection(), {
    log: pino({ level: "silent" }),
    mode: "json_schema",
    clock: time.clock,
  });
  const all = { routing: [], semantic: [], attacks: [], labels: [], ...sets };
  const told: string[] = [];
  const onWait = (reason: string) => told.push(reason);
  const tried = tryOut(client, all, { repeats: 1, patienceMs, clock: time.clock, onWait });
  return tried.then(trial => ({ ...trial, told, waits: time.waits }));
}

test("a judge that is busy is asked again when it says, and nothing of it is a figure", async () => {
  server.script = (request, index) =>
    index < 2 ? refusal(429, {}, { "retry-after": "20" }) : obliging()(request, index);
  const { routes, faults, calls, told, waits } = await trial({ routing });
  assert.deepEqual(
    routes.map(({ labels }) => labels),
    [["match"], ["match"]],
  );
  assert.deepEqual(faults, []);
  assert.deepEqual(
    calls.map(({ state }) => state),
    ["later", "later", "ok"],
  );
  for (const reason of told) assert.match(reason, /^The judge answered with status 429/);
  assert.equal(told.length, 2);
  assert.ok(waits.every(ms => ms >= 20_000));
});

test("a judge that stays away is given up on, and that is said once", async () => {
  server.script = () => refusal(503);
  const { routes, criteria, faults, waits } = await trial({ routing, semantic }, 60_000);
  assert.deepEqual(
    [...routes, ...criteria].map(pair => ("labels" in pair ? pair.labels : pair.verdicts)),
    [[null], [null], [null], [null]],
  );
  assert.ok(waits.length > 0 && faults.length > 0);
  assert.equal(new Set(faults).size, faults.length);
});

test("what an answer leaves out is asked for once more, of scenarios and of criteria alike", async () => {
  server.script = (request, index) => {
    const asked = askedOf(request);
    if (asked.kind === "route") {
      const [, ...left] = asked.scenarios.map(({ id }) => id);
      return completion({ labels: labelsOf(request).filter(({ id }) => !left.includes(id)) });
    }
    if (asked.kind !== "semantic") throw new Error("Every quotation is in the reply");
    const left = index === 0 ? asked.criteria.find(({ criterion }) => criterion === "Names a day.")?.id : "";
    return completion({ verdicts: verdictsOf(request).filter(({ id }) => id !== left) });
  };
  const judged = await trial({ semantic });
  assert.equal(judged.calls.length, 2);
  assert.deepEqual(
    judged.criteria.map(({ verdicts }) => verdicts),
    [["met"], ["met"]],
  );
  const routed = await trial({ routing });
  assert.equal(routed.calls.length, 2);
  assert.deepEqual(
    routed.routes.map(({ labels }) => labels),
    [["match"], ["match"]],
  );
});

test("an answer of no use is not asked for again", async () => {
  server.script = () => completion("What?");
  const { routes, calls, faults } = await trial({ routing });
  assert.equal(calls.length, 1);
  assert.deepEqual(
    routes.map(({ labels }) => labels),
    [[null], [null]],
  );
  assert.equal(faults.length, 1);
});
