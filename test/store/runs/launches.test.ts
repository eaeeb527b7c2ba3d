// Creating launches: once the commit is answered, nothing keeps the caller from learning of the launch.
import assert from "node:assert/strict";
import { after, it } from "node:test";
import type { Database } from "../../../src/store/db.ts";
import { findLaunch, insertLaunch } from "../../../src/store/runs/launches.ts";
import { makeSender, makeTestCase, openTwice, runnable } from "../traces/make-write.ts";

const { db, close } = await openTwice();
after(close);

it("the transaction that creates a launch returns it, even if the database goes down right after the commit", async () => {
  const { agentId } = await makeSender(db);
  const test = await makeTestCase(db, agentId);
  const query = () => Promise.reject(new Error("Connection terminated unexpectedly"));
  const connect = () => db.pool.connect();
  const leaving = { ...db, pool: { connect, query } } as unknown as Database;
  const launch = await insertLaunch(leaving, {
    agentId,
    createdBy: "nobody",
    source: "api",
    tests: runnable([test]),
  });
  assert.equal(launch.state, "queued");
  assert.deepEqual(launch, await findLaunch(db, launch.id));
});
