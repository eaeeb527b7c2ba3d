// New ids rise in the order in which they were generated, so lists, which are in the order of ids, are too.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { listAgents } from "../../src/store/accounts/agents.ts";
import { idAt, newest, timeOfId } from "../../src/store/listing.ts";
import { newId } from "../../src/store/new-id.ts";
import { makeAgentRow, makeProject, openTestDatabase } from "../support/rows.ts";

const { db, close } = await openTestDatabase();
after(close);

/** After all ids that tests in this process have. */
const now = Date.now() + 1_000;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test("ids of one millisecond are UUIDv7 in ascending order, however many, and the later ones are ahead of the clock", t => {
  t.mock.timers.enable({ apis: ["Date"], now });
  const ids = Array.from({ length: 10_000 }, newId);
  assert.deepEqual([...new Set(ids)].sort(), ids);
  for (const id of ids) assert.match(id, uuid);
  assert.deepEqual([timeOfId(ids[0]!), timeOfId(ids[4_095]!), timeOfId(ids.at(-1)!)], [now, now, now + 2]);
});

test("ids keep rising after the clock was set back, and follow it again once it has caught up", t => {
  t.mock.timers.enable({ apis: ["Date"], now: now + 10_000 });
  const before = newId();
  t.mock.timers.setTime(now);
  const during = newId();
  t.mock.timers.setTime(now + 10_001);
  const later = newId();
  assert.deepEqual([later, during, before].sort(), [before, during, later]);
  assert.equal(timeOfId(later), now + 10_001);
});

test("ids follow a clock that was set back by more than ten minutes", t => {
  t.mock.timers.enable({ apis: ["Date"], now: now + 700_000 });
  newId();
  t.mock.timers.setTime(now + 99_000);
  assert.equal(timeOfId(newId()), now + 99_000);
});

test("agents that were created one right after the other are listed newest first", async () => {
  const projectId = await makeProject(db);
  const created: string[] = [];
  for (let at = 0; at < 40; at++) created.push(await makeAgentRow(db, { projectId }));
  const listed = await listAgents(db, projectId, { before: newest, rowsMax: 40 });
  assert.deepEqual(
    listed.map(agent => agent.id),
    created.toReversed(),
  );
});

test("SQL's id_at gives the lowest id of a time as idAt does, and keeps the rest of another id", async () => {
  const idIn = async (ms: number, rest?: string): Promise<string> => {
    const parameters = rest === undefined ? "$1" : "$1, $2::uuid";
    const values = rest === undefined ? [new Date(ms)] : [new Date(ms), rest];
    const { rows } = await db.pool.query<{ id: string }>(`select id_at(${parameters}) as id`, values);
    return rows[0]!.id;
  };
  for (const ms of [0, 1, now - 1, now, now + 999, Date.UTC(9999, 0)]) assert.equal(await idIn(ms), idAt(ms));
  const rest = "01234567-89ab-7cde-8f01-23456789abcd";
  assert.equal(await idIn(now, rest), `${idAt(now).slice(0, 13)}-7cde-8f01-23456789abcd`);
  const { rows } = await db.pool.query<{ id: string }>(
    "select id_at('2026-11-23 00:00:00.000999+00') as id, id_at('2026-11-23 00:00:00.001+00') as next",
  );
  const midnight = Date.UTC(2026, 10, 23);
  assert.deepEqual(rows, [{ id: idAt(midnight), next: idAt(midnight + 1) }]);
});
