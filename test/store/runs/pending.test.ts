// An account may have so many runs that were not claimed yet; they are counted every few seconds.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";
import { Refusal } from "../../../src/model/refusal.ts";
import { requireRoomFor } from "../../../src/store/runs/pending.ts";
import { makeAgentRow } from "../../support/rows.ts";
import { makeSender, openTwice } from "../traces/make-write.ts";

const { db, close } = await openTwice();
after(close);

async function accountOf(projectId: string): Promise<string> {
  return (await db.pool.query("select account_id from projects where id = $1", [projectId])).rows[0]
    .account_id;
}

test("runs of all agents of an account count until they are claimed, and those of others do not", async () => {
  const [{ projectId, agentId }, other] = [await makeSender(db), await makeSender(db)];
  const [accountId, otherId] = await Promise.all([projectId, other.projectId].map(accountOf));
  const second = await makeAgentRow(db, { projectId });
  const add = (agent: string, state = "pending") =>
    db.pool.query(
      `insert into queue (id, trace_id, agent_id, state, due_at, lease_until)
        select gen_random_uuid(), $1, $2, $3, now() + interval '1 hour', case when $3 = 'running' then now() end`,
      [randomUUID(), agent, state],
    );
  let ms = 0;
  const requireRoom = requireRoomFor(db, { max: 3, now: () => ms });
  for (const agent of [agentId, agentId]) await add(agent);
  for (const agent of [other.agentId, other.agentId]) await add(agent);
  await add(second, "running");
  await requireRoom(accountId!);
  await add(second);
  // Counted once in 5 s.
  await requireRoom(accountId!);
  ms += 5_000;
  const isFull = (error: unknown) =>
    error instanceof Refusal && error.code === "RATE_LIMITED" && error.retryAfterSeconds === 5;
  await assert.rejects(requireRoom(accountId!), isFull);
  await requireRoom(otherId!);
  await db.pool.query("update queue set state = 'running', lease_until = now() where agent_id = $1", [
    second,
  ]);
  await assert.rejects(requireRoom(accountId!), isFull);
  ms += 5_000;
  await requireRoom(accountId!);
});
