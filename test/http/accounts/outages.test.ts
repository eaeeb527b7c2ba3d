// A database that briefly fails during the session lookup is reported as 503, not as a bug or a missing session.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { begun } from "../../store/locks.ts";
import { startTestApp, type TestApp } from "../../support/app.ts";
import type { Reply } from "../../support/client.ts";
import { refusalIn } from "../../support/client.ts";
import { eventually } from "../../support/eventually.ts";

let service: TestApp;
before(async () => {
  service = await startTestApp();
});
after(() => service.close());

/** A transaction that blocks every session lookup; once it commits, those that wait continue. */
async function lockSessions(): Promise<() => Promise<void>> {
  const client = await begun(service.db);
  await client.query("lock table sessions in access exclusive mode");
  return client.rollback;
}

/** Cancels only the session lookup with this number; the other statements and the database work. */
async function whileSessionsStall(ask: () => Promise<Reply<unknown>>, number = 1): Promise<Reply<unknown>> {
  let unlock = await lockSessions();
  const answer = ask();
  for (let at = 1; at < number; at++) {
    await waiting(1);
    const next = lockSessions();
    await waiting(2);
    await unlock();
    unlock = await next;
  }
  await waiting(1, ", pg_cancel_backend(pid)");
  await unlock();
  return answer;
}

/** Resolves once this many statements wait for the sessions. */
async function waiting(count: number, also = ""): Promise<void> {
  await eventually(async () => {
    const { rowCount } = await service.db.pool.query(
      `select pid${also} from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock' and query like '%sessions%'`,
    );
    assert.equal(rowCount, count);
  });
}

test("a session lookup that fails once is 503, and the session works again right after it", async () => {
  const { client, email } = await service.signUp();
  for (const path of ["/api/projects", "/api/auth/get-session"]) {
    assertAway(await whileSessionsStall(() => client.get(path)));
  }
  const body = await client.read("/api/auth/get-session");
  assert.equal(body!.user.email, email);
});

test("a failed lookup while changing the password does not ask the user to sign in", async () => {
  const { client, password } = await service.signUp();
  const body = { currentPassword: password, newPassword: "another long one" };
  // The guard's own lookup succeeds; the second one is the auth library's.
  assertAway(await whileSessionsStall(() => client.post("/api/auth/change-password", body), 2));
  await client.post("/api/auth/change-password", body).expect(200);
});

function assertAway(reply: Reply<unknown>): void {
  assert.deepEqual([reply.status, refusalIn(reply).code], [503, "UNAVAILABLE"]);
  assert.match(reply.headers.get("retry-after")!, /^[23]$/);
}
