// Statements with many rows keep their plan: planning one takes longer than running it for a few rows.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { openDatabase } from "../../../src/store/db.ts";
import { insertTraces } from "../../../src/store/traces/insert.ts";
import { freshDatabase } from "../../support/postgres.ts";
import { canonicalWrite, makeSender } from "../traces/make-write.ts";

const database = await freshDatabase();
const db = openDatabase(database.url, 1);
after(async () => {
  await db.close();
  await database.drop();
});

test("a session plans the statement that stores traces six times, however few traces come at a time", async () => {
  const sender = await makeSender(db);
  for (let count = 0; count < 20; count++) await insertTraces(db, [canonicalWrite(sender)], 5_000);
  const { rows } = await db.pool.query(
    "select generic_plans::int as kept, custom_plans::int as planned from pg_prepared_statements where name = 'insert_traces'",
  );
  // PostgreSQL tries five plans for given rows before the one that it keeps.
  assert.deepEqual(rows, [{ kept: 15, planned: 5 }]);
});
