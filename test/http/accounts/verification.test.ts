// Email verification: the link, its page, and how often the email can be requested.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Owner, startTestApp, type TestApp, tokenOf } from "../../support/app.ts";
import { refusalIn } from "../../support/client.ts";

let service: TestApp;
before(async () => {
  service = await startTestApp();
});
after(() => service.close());

async function withLink(): Promise<Owner & { token: string }> {
  const owner = await service.signUp();
  return { ...owner, token: tokenOf(await service.mailer.next(owner.email)) };
}

/** Makes it as if every email to the account had been sent this much earlier. */
async function ageMails(owner: Owner, interval: string): Promise<void> {
  // Times are computed apart: a cluster changes no column by its time zone.
  const { rows } = await service.db.pool.query<{ hash: Buffer; sent: Date; expires: Date }>(
    `select token_hash as hash, sent_at - $2::interval as sent, expires_at - $2::interval as expires
     from email_links where account_id = $1`,
    [owner.accountId, interval],
  );
  for (const { hash, sent, expires } of rows) {
    await service.db.pool.query(
      "update email_links set sent_at = $2, expires_at = $3 where token_hash = $1",
      [hash, sent, expires],
    );
  }
}

async function stateOf(token: string): Promise<string> {
  return (await service.client().post("/api/verification/link", { token }).expect(200)).body.state;
}

test("reading the link's state changes nothing, however often; confirming verifies, without a session", async () => {
  const { client, token } = await withLink();
  for (let asked = 0; asked < 3; asked++) assert.equal(await stateOf(token), "open");
  assert.equal((await client.read("/api/verification")).verified, false);
  const { body: done } = await service.client().post("/api/verification/confirm", { token }).expect(200);
  assert.deepEqual(done, { verified: true });
  const body = await client.read("/api/verification");
  assert.deepEqual([body.verified, body.resendAllowedAt], [true, null]);
});

test("of two simultaneous confirmations one succeeds, and the other is told that the link was used", async () => {
  const { token } = await withLink();
  const confirm = () => service.client().post("/api/verification/confirm", { token });
  const replies = await Promise.all([confirm(), confirm()]);
  assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 409]);
  const refused = replies.find(({ status }) => status === 409)!;
  assert.equal(refusalIn(refused).code, "CONFLICT");
  assert.match(refusalIn(refused).message, /used/);
});

test("a used link says so", async () => {
  const { token } = await withLink();
  await service.client().post("/api/verification/confirm", { token }).expect(200);
  assert.equal(await stateOf(token), "used");
});

test("a link expires after 24 hours, and not a minute before", async () => {
  const early = await withLink();
  await ageMails(early, "23 hours 59 minutes");
  await service.client().post("/api/verification/confirm", { token: early.token }).expect(200);
  const late = await withLink();
  await ageMails(late, "24 hours");
  assert.equal(await stateOf(late.token), "expired");
  const { body } = await service
    .client()
    .post("/api/verification/confirm", { token: late.token })
    .expect(409);
  assert.equal(body.code, "CONFLICT");
  assert.match(body.message, /expired/);
  assert.equal((await late.client.read("/api/verification")).verified, false);
});

test("an expired link sends nobody whose email is verified by now to resend it", async () => {
  const owner = await withLink();
  await ageMails(owner, "24 hours");
  await owner.client.post("/api/verification/resend").expect(200);
  const { token } = owner;
  const second = tokenOf(await service.mailer.next(owner.email));
  await service.client().post("/api/verification/confirm", { token: second }).expect(200);
  const { body } = await service.client().post("/api/verification/confirm", { token }).expect(409);
  assert.equal(body.hint, "Unless your email is already verified, sign in and resend the email.");
});

test("a token that was never sent is 404 NOT_FOUND, whatever it holds", async () => {
  for (const token of ["unknown", "\0", "\ud800", "'; --"]) {
    const { body } = await service.client().post("/api/verification/confirm", { token }).expect(404);
    assert.equal(body.code, "NOT_FOUND");
    assert.equal(await stateOf(token), "unknown");
  }
});

test("a link stops working when the account's email changes", async () => {
  const { accountId, token } = await withLink();
  await service.db.pool.query("update accounts set email = 'moved@example.com' where id = $1", [accountId]);
  await service.client().post("/api/verification/confirm", { token }).expect(404);
});

test("a link starts with the configured base URL, whatever Host the sign-up request had", async () => {
  const email = "host@example.com";
  const reply = await service.app.inject({
    method: "POST",
    url: "/api/auth/sign-up/email",
    headers: { host: "evil.example", "x-forwarded-host": "evil.example" },
    payload: { email, password: "long enough" },
  });
  assert.equal(reply.statusCode, 200);
  const mail = await service.mailer.next(email);
  assert.match(mail.link!, /^http:\/\/onlooker\.test\/verify-email\?token=[\w-]{43}$/);
  assert.equal(`${mail.text}${mail.html}`.includes("evil.example"), false);
});

test("only a hash of the token is stored", async () => {
  const { accountId, token } = await withLink();
  const { rows } = await service.db.pool.query(
    "select row_to_json(l)::text as row, encode(token_hash, 'base64') as hash from email_links l where account_id = $1",
    [accountId],
  );
  assert.equal(rows.length, 1);
  assert.equal(rows[0].row.includes(token), false);
  assert.equal(Buffer.from(rows[0].hash, "base64").equals(Buffer.from(token, "base64url")), false);
});

test("a second request within 60 seconds is 429 RATE_LIMITED with the time to wait", async () => {
  const { client } = await withLink();
  const state = await client.read("/api/verification");
  assert.equal(Date.parse(state.resendAllowedAt!) > Date.parse("2000-01-01"), true);
  const reply = await client.post("/api/verification/resend").expect(429);
  assert.equal(reply.body.code, "RATE_LIMITED");
  const seconds = Number(reply.headers.get("retry-after"));
  assert.equal(seconds >= 1 && seconds <= 60, true, `Retry-After is ${seconds}`);
});

test("after the cooldown another email is sent, and the link of either works", async () => {
  const owner = await withLink();
  await ageMails(owner, "60 seconds");
  assert.equal((await owner.client.read("/api/verification")).resendAllowedAt, null);
  const { body } = await owner.client.post("/api/verification/resend").expect(200);
  assert.notEqual(body.resendAllowedAt, null);
  const second = tokenOf(await service.mailer.next(owner.email));
  assert.notEqual(second, owner.token);
  await service.client().post("/api/verification/confirm", { token: owner.token }).expect(200);
  await service.client().post("/api/verification/confirm", { token: second }).expect(200);
});

test("the fifth email of an hour is the last until the hour is over", async () => {
  const owner = await withLink();
  for (let sent = 1; sent < 5; sent++) {
    await ageMails(owner, "2 minutes");
    await owner.client.post("/api/verification/resend").expect(200);
  }
  await ageMails(owner, "2 minutes");
  const reply = await owner.client.post("/api/verification/resend").expect(429);
  const seconds = Number(reply.headers.get("retry-after"));
  assert.match(reply.body.message, /5 per hour/);
  // The first one was sent 10 minutes ago.
  assert.equal(seconds > 45 * 60 && seconds <= 50 * 60, true, `Retry-After is ${seconds}`);
  await ageMails(owner, "50 minutes");
  await owner.client.post("/api/verification/resend").expect(200);
});

test("of several simultaneous requests for another email, one sends it", async () => {
  const owner = await withLink();
  await ageMails(owner, "60 seconds");
  const before = service.mailer.mails.length;
  const replies = await Promise.all([1, 2, 3, 4].map(() => owner.client.post("/api/verification/resend")));
  assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 429, 429, 429]);
  assert.equal(service.mailer.mails.length, before + 1);
});

test("a verified account is sent no more emails", async () => {
  const { client } = await service.verifiedAccount();
  const { body } = await client.post("/api/verification/resend").expect(409);
  assert.equal(body.code, "CONFLICT");
});

test("signing up succeeds while no email can be sent, and the email can be requested immediately afterwards", async () => {
  service.mailer.down = true;
  const owner = await service.signUp();
  service.mailer.down = false;
  await untilUnsent(owner);
  await owner.client.post("/api/verification/resend").expect(200);
  const token = tokenOf(await service.mailer.next(owner.email));
  await service.client().post("/api/verification/confirm", { token }).expect(200);
});

/** The sign-up is answered before its email is sent or fails. */
async function untilUnsent(owner: Owner): Promise<void> {
  for (;;) {
    const body = await owner.client.read("/api/verification");
    if (body.resendAllowedAt === null) return;
  }
}

test("a request fails while no email can be sent, and starts no cooldown", async () => {
  const owner = await withLink();
  await ageMails(owner, "60 seconds");
  service.mailer.down = true;
  const { status } = await owner.client.post("/api/verification/resend");
  service.mailer.down = false;
  assert.equal(status >= 500, true);
  await owner.client.post("/api/verification/resend").expect(200);
});
