// Tests that a start with another master key is noticed.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import type { Database } from "../../../src/store/db.ts";
import { isOtherMasterKey } from "../../../src/store/secrets/key-check.ts";
import { openVault } from "../../../src/store/secrets/vault.ts";
import { freshDatabase, openFresh } from "../../support/postgres.ts";

let db: Database;
let drop: () => Promise<void>;
before(async () => {
  const database = await freshDatabase();
  db = openFresh(database.url);
  drop = database.drop;
});
after(async () => {
  await db.close();
  await drop();
});

test("two nodes with different keys are told at each start, and a replaced key once", async () => {
  const [one, other] = [openVault(randomBytes(32)), openVault(randomBytes(32))];
  assert.equal(await isOtherMasterKey(db, one), false, "the first start");
  assert.equal(await isOtherMasterKey(db, one), false, "a restart");
  assert.equal(await isOtherMasterKey(db, other), true, "another node");
  assert.equal(await isOtherMasterKey(db, one), true, "the first node again");
  assert.equal(await isOtherMasterKey(db, other), true, "the other node again");
  assert.equal(await isOtherMasterKey(db, other), false, "a replaced key");
});
