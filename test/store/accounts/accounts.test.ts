// Accounts in the database: their first project, what they own, and the secret that all processes share.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { findAccountByEmail } from "../../../src/store/accounts/accounts.ts";
import { isOwn, type OwnedNoun } from "../../../src/store/accounts/ownership.ts";
import { createFirstProject, listProjects } from "../../../src/store/accounts/projects.ts";
import type { Database } from "../../../src/store/db.ts";
import { newest } from "../../../src/store/listing.ts";
import { sharedSecret } from "../../../src/store/secrets/shared-secret.ts";
import { makeAccount, makeProject, openTestDatabase } from "../../support/rows.ts";

let db: Database;
let close: () => Promise<void>;
before(async () => {
  ({ db, close } = await openTestDatabase());
});
after(() => close());

test("an account is found by its email, ignoring case", async () => {
  const id = await makeAccount(db, { email: "ada@example.com", verified: true });
  assert.deepEqual(await findAccountByEmail(db, "ADA@Example.com"), {
    id,
    name: "Someone",
    email: "ada@example.com",
    emailVerified: true,
  });
  assert.equal(await findAccountByEmail(db, "nobody@example.com"), undefined);
});

test("the first project is created once, however often and concurrently it is requested", async () => {
  const id = await makeAccount(db);
  await Promise.all([1, 2, 3, 4].map(() => createFirstProject(db, id, "Mine")));
  const projects = await listProjects(db, id, { before: newest, rowsMax: 10 });
  assert.deepEqual(
    projects.map(({ name }) => name),
    ["Mine"],
  );
  await createFirstProject(db, "no-such-account");
});

test("each kind of record belongs to its own account and to no other", async () => {
  const [mine, other] = [await makeAccount(db), await makeAccount(db)];
  const project = await makeProject(db, mine);
  const one = async (sql: string, ...values: unknown[]): Promise<string> =>
    (await db.pool.query<{ id: string }>(`${sql} returning id`, values)).rows[0]!.id;
  const agent = await one(
    "insert into agents (id, project_id, name, type) values (gen_random_uuid(), $1, 'a', 'workflow')",
    project,
  );
  const things: Record<OwnedNoun, string> = {
    projects: project,
    agents: agent,
    keys: await one(
      "insert into keys (id, project_id, name, hash, last_four, access) values (gen_random_uuid(), $1, 'k', '\\x01', 'abcd', 'full')",
      project,
    ),
    erasures: await one(
      `insert into erasures (id, project_id, criterion, dry_run, step, traces)
       values (gen_random_uuid(), $1, 'text', true, 'find', 0)`,
      project,
    ),
    "trace-views": await one(
      "insert into trace_views (id, agent_id, name, search) values (gen_random_uuid(), $1, 'v', '{}')",
      agent,
    ),
    tests: await one(
      `insert into test_cases (id, agent_id, name, status, passive_behavior, turn_count, document)
       values (gen_random_uuid(), $1, 't', 'active', 'always_run', 1, '{}')`,
      agent,
    ),
    traces: await one(
      `insert into traces (id, agent_id, external_id, kind, path, batch_spans, batch_bytes, derived_revision,
         name, failed, span_count)
       values (gen_random_uuid(), $1, 'x', 'live', 'otlp', 1, 1, 1, 'n', false, 1)`,
      agent,
    ),
    runs: "",
    labels: "",
    launches: await one(
      `insert into launches (id, agent_id, source, state, test_count, run_count) values (gen_random_uuid(), $1, 'api', 'queued', 1, 1)`,
      agent,
    ),
    backtests: await one(
      `insert into backtests (id, agent_id, test, judged, state, lease_until)
       values (gen_random_uuid(), $1, '{}', false, 'completed', now())`,
      agent,
    ),
    "access-tokens": await one(
      "insert into access_tokens (id, account_id, name, hash, last_four) values (gen_random_uuid(), $1, 'CI', '\\x01', 'abcd')",
      mine,
    ),
  };
  things.runs = await one(
    `insert into runs (id, trace_id, agent_id, kind, state, due_at)
     values (gen_random_uuid(), $1, $2, 'passive', 'pending', now())`,
    things.traces,
    agent,
  );
  things.labels = await one(
    `insert into labels (id, agent_id, test_id, trace_id, run_id, judged, answer, agrees, note, model, prompt_version)
     values (gen_random_uuid(), $1, $2, $3, $4, 'match', 'match', true, '', 'm', '1')`,
    agent,
    things.tests,
    things.traces,
    things.runs,
  );
  for (const [noun, id] of Object.entries(things) as [OwnedNoun, string][]) {
    assert.equal(await isOwn(db, mine, noun, id), true, noun);
    assert.equal(await isOwn(db, other, noun, id), false, noun);
    assert.equal(await isOwn(db, mine, noun, "7f0c1a52-94e8-4c5b-9d7e-3a1f6b2c8d40"), false, noun);
    for (const malformed of ["", "1", `${id}0`, `{${id}}`, "\0"]) {
      assert.equal(await isOwn(db, mine, noun, malformed), false, noun);
    }
  }
});

test("every process gets the same secret for a name, and different names have different secrets", async () => {
  const secrets = await Promise.all([1, 2, 3].map(() => sharedSecret(db, "one")));
  assert.equal(new Set(secrets).size, 1);
  assert.equal(Buffer.from(secrets[0]!, "base64url").length, 32);
  assert.notEqual(await sharedSecret(db, "two"), secrets[0]);
});
