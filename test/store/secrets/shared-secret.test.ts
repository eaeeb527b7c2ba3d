// The secret that all processes share.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Database } from "../../../src/store/db.ts";
import { sharedSecret } from "../../../src/store/secrets/shared-secret.ts";
import { openTestDatabase } from "../../support/rows.ts";

let db: Database;
let close: () => Promise<void>;
before(async () => {
  ({ db, close } = await openTestDatabase());
});
after(() => close());

test("every process gets the same secret for a name, and different names have different secrets", async () => {
  const secrets = await Promise.all([1, 2, 3].map(() => sharedSecret(db, "one")));
  assert.equal(new Set(secrets).size, 1);
  assert.equal(Buffer.from(secrets[0]!, "base64url").length, 32);
  assert.notEqual(await sharedSecret(db, "two"), secrets[0]);
});
