// What an account sends in a day is counted for all processes, and more is refused before it is read.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { DailyBytes } from "../../../src/http/ingestion/daily-bytes.ts";
import { countJudgeTokens, findJudgeTokensToday } from "../../../src/store/accounts/use.ts";
import { makeAccount, openTestDatabase } from "../../support/rows.ts";

const { db, close } = await openTestDatabase();
after(close);

test("an account has sent enough once all processes together have received so much on a day", async () => {
  const [sender, neighbor] = [await makeAccount(db), await makeAccount(db)];
  const [one, two] = [new DailyBytes(db, 100), new DailyBytes(db, 100)];
  one.add(sender, 60);
  one.add(neighbor, 10);
  await one.write();
  two.add(sender, 30);
  await two.write();
  two.require(sender);
  two.add(sender, 10);
  assert.throws(() => two.require(sender), { code: "DAILY_LIMIT_REACHED", status: 403 });
  await two.write();
  assert.throws(() => two.require(sender), { code: "DAILY_LIMIT_REACHED" });
  one.require(neighbor);
  one.add(sender, 0);
  await one.write();
  assert.throws(() => one.require(sender), { code: "DAILY_LIMIT_REACHED" });

  await countJudgeTokens(db, sender, 5);
  await db.pool.query("update account_use set day = day - 1");
  assert.equal(await findJudgeTokensToday(db, sender), 0);
  one.add(sender, 1);
  await one.write();
  one.require(sender);
});

test("what is sent while the database is away is counted once it is back", async () => {
  const sender = await makeAccount(db);
  const away = { pool: { query: () => Promise.reject(new Error("away")) } } as unknown as typeof db;
  const bytes = new DailyBytes(away, 100);
  bytes.add(sender, 100);
  await bytes.write();
  assert.throws(() => bytes.require(sender), { code: "DAILY_LIMIT_REACHED" });
});
