// What a start asks of the database waits for one that does not answer yet.
import assert from "node:assert/strict";
import { test } from "node:test";
import { untilAnswered } from "../../src/store/prepare.ts";

const busy = () => new Error("timeout exceeded when trying to connect");

test("a start asks again while no connection can be opened in time", async () => {
  const faults = [busy(), busy()];
  const read = async () => {
    const fault = faults.shift();
    if (fault) throw fault;
    return "secret";
  };
  assert.equal(await untilAnswered(read, 0), "secret");
  assert.equal(faults.length, 0);
});

test("a start ends with any other error at once", async () => {
  let calls = 0;
  const read = async () => {
    calls++;
    throw new Error("permission denied for table secrets");
  };
  await assert.rejects(untilAnswered(read, 0), /permission denied/);
  assert.equal(calls, 1);
});
