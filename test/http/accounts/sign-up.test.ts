// With a mail server, neither signing up, signing in nor requesting a reset tells whether an email has an account.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { startTestApp, type TestApp } from "../../support/app.ts";
import { cheapPasswords } from "../../support/cheap-passwords.ts";
import type { Reply } from "../../support/client.ts";
import { eventually } from "../../support/eventually.ts";

let service: TestApp;
let hashed: number;
before(async () => {
  service = await startTestApp({
    smtpUrl: "smtp://mail.invalid",
    limitAccounts: true,
    passwordHashing: {
      hash: password => {
        hashed += 1;
        return cheapPasswords.hash(password);
      },
      verify: given => {
        hashed += 1;
        return cheapPasswords.verify(given);
      },
    },
  });
});
after(() => service.close());
beforeEach(() => {
  hashed = 0;
});

const password = "correct horse battery";
const signUp = (email: string, more: object = {}) =>
  service.client().post("/api/auth/sign-up/email", { email, password, ...more });
const signIn = (email: string, given = password) =>
  service.client().post("/api/auth/sign-in/email", { email, password: given });

/** Everything of a reply that a client can compare. */
function seen({ status, body, headers }: Reply<unknown>): unknown {
  const changing = ["date", "keep-alive"];
  const names = [...headers].filter(([name]) => !changing.includes(name));
  const { requestId, ...rest } = body as { requestId?: string };
  return { status, body: rest, headers: names };
}

test("a sign-up is answered the same for a new and a taken email, without a session, after one hash", async () => {
  const owner = await service.signUp();
  hashed = 0;
  const fresh = await signUp("fresh@example.com", { name: "Ada" }).expect(200);
  assert.equal(hashed, 1);
  assert.deepEqual(fresh.body, { user: null });
  assert.deepEqual(fresh.headers.getSetCookie(), []);
  for (const email of [owner.email, owner.email.toUpperCase()]) {
    hashed = 0;
    assert.deepEqual(seen(await signUp(email, { name: "Ada" })), seen(fresh));
    assert.equal(hashed, 1);
  }
});

test("a new user signs in with the same password, and has a project and a verification email", async () => {
  const email = "new@example.com";
  await signUp(email, { name: "Grace" }).expect(200);
  const client = service.client();
  const { body } = await client.post("/api/auth/sign-in/email", { email, password }).expect(200);
  assert.deepEqual([body.user.name, body.user.emailVerified], ["Grace", false]);
  assert.equal((await client.read("/api/projects")).items.length, 1);
  assert.equal((await service.mailer.next(email)).subject, "Confirm your email address");
});

test("a sign-up with a taken email changes nothing, and its owner is told, at most three times an hour", async () => {
  const owner = await service.signUp();
  await service.mailer.next(owner.email);
  for (let at = 0; at < 5; at++) {
    await signUp(owner.email, { password: "another password", name: "Eve" }).expect(200);
  }
  await signIn(owner.email, "another password").expect(401);
  const { body } = await signIn(owner.email).expect(200);
  assert.notEqual(body.user.name, "Eve");
  const mail = await service.mailer.next(owner.email);
  assert.equal(mail.subject, "You already have an account");
  assert.match(mail.text, /sign-in\n.*reset your password:\nhttp:\/\/onlooker\.test\/forgot-password\n/is);
  assert.doesNotMatch(`${mail.text}${mail.html}`, /Eve|another password/);
  for (const _ of [2, 3]) await service.mailer.next(owner.email);
  await eventually(async () => {
    const counts = "select max(count) as count from attempts where kind = 'sign-up notice'";
    assert.equal((await service.db.pool.query(counts)).rows[0].count, 5);
  });
  const notices = service.mailer.mails.filter(
    ({ to, subject }) => to === owner.email && subject === mail.subject,
  );
  assert.equal(notices.length, 3);
});

test("simultaneous sign-ups with one email are answered the same, and create one account", async () => {
  const email = "twice@example.com";
  const replies = await Promise.all([1, 2, 3].map(() => signUp(email)));
  assert.deepEqual(
    replies.map(({ status, body }) => [status, body]),
    Array(3).fill([200, { user: null }]),
  );
  await signIn(email).expect(200);
  assert.deepEqual(
    service.logs.filter(line => JSON.parse(line).level >= 50),
    [],
  );
});

test("signing in is answered the same for a wrong password and an unknown email, after one hash", async () => {
  const owner = await service.signUp();
  hashed = 0;
  const wrong = await signIn(owner.email, "not the password").expect(401);
  assert.equal(hashed, 1);
  const unknown = await signIn("nobody@example.com", "not the password").expect(401);
  assert.equal(hashed, 2);
  assert.deepEqual(seen(unknown), seen(wrong));
});

test("a reset is answered the same for a known and an unknown email, before any email is sent", async () => {
  const { promise: accepted, resolve: accept } = Promise.withResolvers<void>();
  const owner = await service.signUp();
  await service.mailer.next(owner.email);
  const { send } = service.mailer;
  service.mailer.send = mail => accepted.then(() => send(mail));
  const reset = (email: string) => service.client().post("/api/auth/request-password-reset", { email });
  const known = await reset(owner.email).expect(200);
  assert.deepEqual(known.body, { mailServer: true });
  assert.deepEqual(seen(await reset("nobody@example.com")), seen(known));
  accept();
  service.mailer.send = send;
  assert.equal((await service.mailer.next(owner.email)).subject, "Choose a new password");
});
