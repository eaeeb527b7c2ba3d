// How ingestion admits keys: by hash, many at once, never one that has expired or was revoked.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { hashKey, makeKey } from "../../../src/model/key.ts";
import { admitKeys, findKey, insertKey, type NewKey, touchKeys } from "../../../src/store/accounts/keys.ts";
import type { Database } from "../../../src/store/db.ts";
import { openVault } from "../../../src/store/secrets/vault.ts";
import { makeAccount, makeAgentRow, makeProject, openTestDatabase } from "../../support/rows.ts";
import { begun } from "../locks.ts";

const vault = openVault(Buffer.alloc(32));

let db: Database;
let close: () => Promise<void>;
before(async () => {
  ({ db, close } = await openTestDatabase());
});
after(() => close());

async function store(fields: Partial<NewKey> = {}): Promise<{ id: string; hash: Buffer; hex: string }> {
  const key = makeKey();
  const hash = hashKey(key);
  const projectId = fields.projectId ?? (await makeProject(db));
  const { id } = await insertKey(db, {
    projectId,
    name: "CI",
    hash,
    lastFour: key.slice(-4),
    access: "full",
    agentIds: [],
    expiresAt: null,
    createdBy: null,
    ...fields,
  });
  return { id, hash, hex: hash.toString("hex") };
}

test("one lookup admits several keys, each with its project, access, agents and the owner's verification", async () => {
  const owners = [await makeAccount(db, { verified: true }), await makeAccount(db)] as const;
  const verified = await makeProject(db, owners[0]);
  const unverified = await makeProject(db, owners[1]);
  const agents = [
    await makeAgentRow(db, { projectId: unverified }),
    await makeAgentRow(db, { projectId: unverified }),
  ];
  const full = await store({ projectId: verified });
  const granular = await store({ projectId: unverified, access: "granular", agentIds: agents });
  const admitted = await admitKeys(db, vault, [full.hash, granular.hash, full.hash, hashKey("unknown")]);
  assert.deepEqual(
    admitted,
    new Map([
      [
        full.hex,
        {
          id: full.id,
          projectId: verified,
          accountId: owners[0],
          access: "full",
          emailVerified: true,
          conventions: null,
          hasMoreConventions: false,
          privacyRevision: 0,
          storing: null,
          rateLimits: { key: null, project: null },
          agentIds: [],
        },
      ],
      [
        granular.hex,
        {
          id: granular.id,
          projectId: unverified,
          accountId: owners[1],
          access: "granular",
          emailVerified: false,
          conventions: null,
          hasMoreConventions: false,
          privacyRevision: 0,
          storing: null,
          rateLimits: { key: null, project: null },
          agentIds: agents,
        },
      ],
    ]),
  );
});

test("a key is valid until the instant it expires, by the database's clock", async () => {
  const soon = await store({ expiresAt: new Date(Date.now() + 3_600_000) });
  const past = await store({ expiresAt: new Date(Date.now() - 3_600_000) });
  assert.deepEqual([...(await admitKeys(db, vault, [soon.hash, past.hash])).keys()], [soon.hex]);
  await db.pool.query("update keys set expires_at = now() where id = $1", [soon.id]);
  assert.equal((await admitKeys(db, vault, [soon.hash])).size, 0);
});

test("last use is recorded at most once a minute", async () => {
  const [key, other] = [await store(), await store()];
  assert.equal((await findKey(db, key.id))?.lastUsedAt, null);
  await touchKeys(db, [key.id, key.id]);
  const first = (await findKey(db, key.id))?.lastUsedAt;
  assert.ok(first instanceof Date);
  await touchKeys(db, [key.id]);
  assert.deepEqual((await findKey(db, key.id))?.lastUsedAt, first);
  await db.pool.query("update keys set last_used_at = now() - interval '61 seconds' where id = $1", [key.id]);
  const aged = (await findKey(db, key.id))?.lastUsedAt;
  await touchKeys(db, [key.id]);
  assert.notDeepEqual((await findKey(db, key.id))?.lastUsedAt, aged);
  assert.equal((await findKey(db, other.id))?.lastUsedAt, null);
});

test("recording the last use does not wait for a key that another transaction has locked", async () => {
  const [held, free] = [await store(), await store()];
  const client = await begun(db);
  try {
    await client.query("select from keys where id = $1 for update", [held.id]);
    await touchKeys(db, [held.id, free.id]);
    assert.equal((await findKey(db, held.id))?.lastUsedAt, null);
    // On a cluster, a lock of one key locks them all.
    assert.equal((await findKey(db, free.id))?.lastUsedAt === null, db.places !== undefined);
  } finally {
    await client.rollback();
  }
});
