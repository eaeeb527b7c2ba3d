// Accounts over HTTP: signing up, in and out, sessions, passwords, and what counts as signed in.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { PasswordHashing } from "../../../src/http/frame/deps.ts";
import { startTestApp, type TestApp, tokenOf } from "../../support/app.ts";
import { cheapPasswords } from "../../support/cheap-passwords.ts";
import { eventually } from "../../support/eventually.ts";

let service: TestApp;
before(async () => {
  service = await startTestApp();
});
after(() => service.close());

test("signing up creates an account, a session and one project", async () => {
  const client = service.client();
  const body = { email: "Ada@Example.com", password: "long enough", name: "Ada" };
  const signedUp = await client.post("/api/auth/sign-up/email", body).expect(200);
  assert.equal(signedUp.body.user!.email, "ada@example.com");
  assert.equal(signedUp.body.user!.name, "Ada");
  assert.equal(signedUp.body.user!.emailVerified, false);
  const projects = await client.read("/api/projects");
  assert.deepEqual(
    projects.items.map((project: { name: string }) => project.name),
    ["My project"],
  );
});

test("the name of an account defaults to the part before the @", async () => {
  const { body } = await service
    .client()
    .post("/api/auth/sign-up/email", { email: "grace.hopper@example.com", password: "long enough" })
    .expect(200);
  assert.equal(body.user!.name, "grace.hopper");
});

test("an account without a first project gets one when it lists them, and only one", async () => {
  const owner = await service.signUp();
  await service.db.pool.query("delete from projects where account_id = $1", [owner.accountId]);
  await service.db.pool.query("update accounts set first_project_made = false where id = $1", [
    owner.accountId,
  ]);
  const lists = await Promise.all([1, 2, 3].map(() => owner.client.get("/api/projects").expect(200)));
  assert.equal(
    new Set(lists.flatMap(({ body }) => body.items.map((item: { id: string }) => item.id))).size,
    1,
  );
});

test("a second account with the same email is 409 CONFLICT, ignoring case", async () => {
  const { email } = await service.signUp();
  const body = { email: email.toUpperCase(), password: "another password" };
  const reply = await service.client().post("/api/auth/sign-up/email", body).expect(409);
  assert.equal(reply.body.code, "CONFLICT");
});

test("of two simultaneous sign-ups with one email, one succeeds and the other is 409", async () => {
  const body = { email: "twice@example.com", password: "long enough" };
  const replies = await Promise.all(
    [1, 2, 3].map(() => service.client().post("/api/auth/sign-up/email", body)),
  );
  assert.deepEqual(replies.map(reply => reply.status).sort(), [200, 409, 409]);
});

for (const [what, body, path] of [
  ["no address", { password: "long enough" }, "email"],
  ["a text that is no address", { email: "nobody", password: "long enough" }, "email"],
  ["a password of 7 characters", { email: "a@example.com", password: "seven77" }, "password"],
  ["a password of 129 characters", { email: "a@example.com", password: "x".repeat(129) }, "password"],
  ["a name with U+0000", { email: "a@example.com", password: "long enough", name: "a\0b" }, "name"],
] as const) {
  test(`signing up with ${what} is 400 VALIDATION_ERROR and names the field`, async () => {
    const reply = await service.client().post("/api/auth/sign-up/email", body).expect(400);
    assert.equal(reply.body.code, "VALIDATION_ERROR");
    assert.equal(reply.body.issues![0]!.path, path);
  });
}

test("signing in needs the right password, and does not tell an unknown email from a wrong password", async () => {
  const owner = await service.signUp();
  const wrong = await service
    .client()
    .post("/api/auth/sign-in/email", { email: owner.email, password: "not the password" })
    .expect(401);
  const unknown = await service
    .client()
    .post("/api/auth/sign-in/email", { email: "nobody@example.com", password: "not the password" })
    .expect(401);
  assert.equal(wrong.body.code, "UNAUTHORIZED");
  assert.equal(wrong.body.message, unknown.body.message);
  const client = service.client();
  await client.post("/api/auth/sign-in/email", { email: owner.email, password: owner.password }).expect(200);
  const session = await client.get("/api/auth/get-session").expect(200);
  assert.equal(session.body!.user.email, owner.email);
});

test("a cookie opens nothing after signing out", async () => {
  const { client } = await service.signUp();
  const { cookie } = client;
  await client.post("/api/auth/sign-out").expect(200);
  assert.equal(client.cookie, "");
  client.cookie = cookie;
  assert.equal((await client.get("/api/projects").expect(401)).body.code, "UNAUTHORIZED");
});

test("a session is extended when it is used, and opens nothing after it expires", async () => {
  const { client, accountId } = await service.signUp();
  const expireIn = (interval: string) =>
    service.db.pool.query("update sessions set expires_at = now() + $2::interval where account_id = $1", [
      accountId,
      interval,
    ]);
  await expireIn("2 days");
  const reply = await client.get("/api/projects").expect(200);
  assert.match(reply.headers.getSetCookie()[0]!, /^svc\.session_token=.*Max-Age=604800/);
  const { rows } = await service.db.pool.query(
    "select expires_at > now() + interval '6 days' as extended from sessions where account_id = $1",
    [accountId],
  );
  assert.equal(rows[0].extended, true);
  await expireIn("-1 second");
  await client.get("/api/projects").expect(401);
});

test("an account whose sign-up stopped before its password was saved gets one by a reset", async () => {
  const owner = await service.signUp();
  await service.mailer.next(owner.email);
  await service.db.pool.query("delete from credentials where account_id = $1", [owner.accountId]);
  const credentials = { email: owner.email, password: "chosen by mail" };
  await service.client().post("/api/auth/sign-in/email", credentials).expect(401);
  await service.client().post("/api/auth/request-password-reset", { email: owner.email }).expect(200);
  const token = tokenOf(await service.mailer.next(owner.email));
  await service
    .client()
    .post("/api/auth/reset-password", { token, newPassword: credentials.password })
    .expect(200);
  await service.client().post("/api/auth/sign-in/email", credentials).expect(200);
});

test("credentials are stored in our tables, the password only as a salted hash by scrypt", async () => {
  const real = await startTestApp({ realPasswords: true });
  try {
    const { email, password, accountId } = await real.signUp();
    const other = await real.signUp();
    const credentialOf = async (id: string) => {
      const { rows } = await real.db.pool.query(
        "select provider, password from credentials where account_id = $1",
        [id],
      );
      assert.deepEqual([rows.length, rows[0].provider], [1, "credential"]);
      return rows[0].password as string;
    };
    const hash = await credentialOf(accountId);
    assert.match(hash, /^[0-9a-f]{32}:[0-9a-f]{128}$/);
    assert.notEqual(hash, await credentialOf(other.accountId));
    const sessions = await real.db.pool.query("select token from sessions where account_id = $1", [
      accountId,
    ]);
    assert.equal(sessions.rows.length, 1);
    const signIn = (password: string) => real.client().post("/api/auth/sign-in/email", { email, password });
    await signIn(password).expect(200);
    await signIn("another password").expect(401);
  } finally {
    await real.close();
  }
});

test("a burst of sign-ups succeeds, without blocking other requests from the database", async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const slow = await startTestApp({
    passwordHashing: {
      ...cheapPasswords,
      hash: password => released.then(() => cheapPasswords.hash(password)),
    },
  });
  try {
    const emails = Array.from({ length: 25 }, (_, index) => `crowd-${index}@example.com`);
    const crowd = Promise.all(
      emails.map(email => slow.client().post("/api/auth/sign-up/email", { email, password: "long enough" })),
    );
    // More than the database has connections, all of them waiting for their hash.
    for (let asked = 0; asked < 10; asked++) await slow.client().get("/readyz").expect(200);
    release();
    assert.deepEqual(
      (await crowd).filter(({ status }) => status !== 200),
      [],
    );
  } finally {
    release();
    await slow.close();
  }
});

test("a cookie with another signature, or without one, opens nothing", async () => {
  const { client } = await service.signUp();
  const [token] = client.cookie.split(".", 2).at(-1)!.split("%", 1);
  for (const cookie of [client.cookie.slice(0, -8), `svc.session_token=${token}`, "svc.session_token="]) {
    client.cookie = cookie;
    await client.get("/api/projects").expect(401);
  }
});

test("the session cookie is HttpOnly and SameSite=Lax, and of this host alone if the base URL is https", async () => {
  const body = { email: "cookie@example.com", password: "long enough" };
  const plain = await service.client().post("/api/auth/sign-up/email", body).expect(200);
  const [cookie = ""] = plain.headers.getSetCookie();
  assert.match(cookie, /^svc\.session_token=/);
  assert.match(cookie, /; HttpOnly/i);
  assert.match(cookie, /; SameSite=Lax/i);
  assert.doesNotMatch(cookie, /; Secure/i);
  const secure = await startTestApp({ baseUrl: "https://onlooker.test" });
  try {
    const client = secure.client();
    const isOfHost = (cookies: string[]) => {
      assert.ok(cookies.length > 0);
      for (const one of cookies) {
        assert.match(one, /^__Host-svc\.\w+=/);
        assert.match(one, /; Secure/i);
        assert.match(one, /; Path=\/(?:;|$)/i);
        assert.doesNotMatch(one, /; Domain/i);
      }
    };
    const unremembered = await client
      .post("/api/auth/sign-up/email", body)
      .expect(200)
      .then(() => client.post("/api/auth/sign-in/email", { ...body, rememberMe: false }).expect(200));
    isOfHost(unremembered.headers.getSetCookie());
    await client.get("/api/projects").expect(200);
    const others = secure.client();
    for (const name of ["svc", "__Secure-svc"]) {
      others.cookie = client.cookie.replaceAll("__Host-svc", name);
      await others.get("/api/projects").expect(401);
    }
    const out = await client.post("/api/auth/sign-out").expect(200);
    isOfHost(out.headers.getSetCookie());
    assert.ok(out.headers.getSetCookie().some(one => /session_token=;.*max-age=0/i.test(one)));
  } finally {
    await secure.close();
  }
});

for (const [who, headers] of [
  ["another site's Origin", { origin: "https://evil.example" }],
  ["an opaque Origin", { origin: "null" }],
  ["Sec-Fetch-Site: cross-site", { "sec-fetch-site": "cross-site" }],
] as const) {
  test(`a change requested with ${who} counts as having no session`, async () => {
    const owner = await service.signUp();
    const body = { name: "Taken over" };
    const change = await owner.client.request("POST", "/api/projects", body, headers).expect(401);
    assert.equal(change.body.code, "UNAUTHORIZED");
    const credentials = { email: owner.email, password: owner.password };
    const signIn = await owner.client.request("POST", "/api/auth/sign-in/email", credentials, headers);
    assert.equal(signIn.status, 401);
    assert.deepEqual(signIn.headers.getSetCookie(), []);
    assert.equal((await owner.client.read("/api/projects")).items.length, 1);
  });
}

test("a change requested by our own pages is accepted, at the base URL and at the server's own URL", async () => {
  const { client } = await service.signUp();
  for (const origin of ["http://onlooker.test", service.url]) {
    await client.request("POST", "/api/projects", { name: "Ours" }, { origin }).expect(201);
  }
});

test("changing the password ends the other sessions, keeps this one, and invalidates the old password", async () => {
  const owner = await service.signUp();
  const other = service.client();
  const credentials = { email: owner.email, password: owner.password };
  await other.post("/api/auth/sign-in/email", credentials).expect(200);
  const change = { currentPassword: owner.password, newPassword: "a different password" };
  await owner.client.post("/api/auth/change-password", change).expect(200);
  await other.get("/api/projects").expect(401);
  await owner.client.get("/api/projects").expect(200);
  await other.post("/api/auth/sign-in/email", credentials).expect(401);
  await other
    .post("/api/auth/sign-in/email", { ...credentials, password: "a different password" })
    .expect(200);
});

for (const [late, path] of [
  ["a sign-in", "/api/auth/sign-in/email"],
  ["a change of the password", "/api/auth/change-password"],
] as const) {
  for (const how of ["changed", "reset"] as const) {
    test(`${late} whose old password is verified while the password is ${how} is rejected`, async () => {
      const verified = Promise.withResolvers<void>();
      const isChanged = Promise.withResolvers<void>();
      let waits = false;
      const verify: PasswordHashing["verify"] = async given => {
        const isRight = await cheapPasswords.verify(given);
        if (waits) {
          waits = false;
          verified.resolve();
          await isChanged.promise;
        }
        return isRight;
      };
      const app = await startTestApp({ passwordHashing: { ...cheapPasswords, verify } });
      try {
        const { client, email, password } = await app.signUp();
        await app.mailer.next(email);
        const other = app.client();
        await other.post("/api/auth/sign-in/email", { email, password }).expect(200);
        waits = true;
        const body = { email, password, currentPassword: password, newPassword: "the later password" };
        const rejected = other.post(path, body);
        await verified.promise;
        const newPassword = "a different password";
        if (how === "changed") {
          const change = { currentPassword: password, newPassword };
          await client.post("/api/auth/change-password", change).expect(200);
        } else {
          await app.client().post("/api/auth/request-password-reset", { email }).expect(200);
          const token = tokenOf(await app.mailer.next(email));
          await app.client().post("/api/auth/reset-password", { token, newPassword }).expect(200);
        }
        isChanged.resolve();
        const { status, headers } = await rejected;
        assert.deepEqual([status, headers.getSetCookie()], [401, []]);
        const { rows } = await app.db.pool.query("select count(*)::int as sessions from sessions");
        assert.equal(rows[0].sessions, how === "changed" ? 1 : 0);
        await app.client().post("/api/auth/sign-in/email", { email, password: newPassword }).expect(200);
      } finally {
        isChanged.resolve();
        await app.close();
      }
    });
  }
}

test("changing the password with a wrong current one is 400 VALIDATION_ERROR", async () => {
  const owner = await service.signUp();
  const change = { currentPassword: "not the password", newPassword: "a different password" };
  const reply = await owner.client.post("/api/auth/change-password", change).expect(400);
  assert.equal(reply.body.code, "VALIDATION_ERROR");
});

test("one session can be ended from another", async () => {
  const owner = await service.signUp();
  const other = service.client();
  await other.post("/api/auth/sign-in/email", { email: owner.email, password: owner.password }).expect(200);
  const mine = (await owner.client.read("/api/auth/get-session"))!.session.token;
  const body = await owner.client.read("/api/auth/list-sessions");
  const theirs = body
    .map((session: { token: string }) => session.token)
    .filter((token: string) => token !== mine);
  assert.equal(theirs.length, 1);
  await owner.client.post("/api/auth/revoke-session", { token: theirs[0] }).expect(200);
  await other.get("/api/projects").expect(401);
  await owner.client.get("/api/projects").expect(200);
});

test("requesting a password reset does not reveal whether the email exists", async () => {
  const owner = await service.signUp();
  const known = await service.client().post("/api/auth/request-password-reset", { email: owner.email });
  const unknown = await service
    .client()
    .post("/api/auth/request-password-reset", { email: "nobody@example.com" });
  assert.deepEqual([known.status, known.body], [200, { mailServer: false }]);
  assert.deepEqual([unknown.status, unknown.body], [known.status, known.body]);
});

test("a reset link works once, ends every session, and is stored only as a hash", async () => {
  const owner = await service.signUp();
  await service.mailer.next(owner.email);
  await service.client().post("/api/auth/request-password-reset", { email: owner.email }).expect(200);
  const mail = await service.mailer.next(owner.email);
  assert.match(mail.link!, /^http:\/\/onlooker\.test\/reset-password\?token=/);
  const token = tokenOf(mail);
  const { rows } = await service.db.pool.query("select row_to_json(v)::text as row from verifications v");
  assert.equal(rows.length > 0, true);
  assert.equal(
    rows.some(({ row }) => row.includes(token)),
    false,
  );
  const body = { token, newPassword: "chosen by mail" };
  await service.client().post("/api/auth/reset-password", body).expect(200);
  await owner.client.get("/api/projects").expect(401);
  const again = await service.client().post("/api/auth/reset-password", body).expect(400);
  assert.equal(again.body.code, "VALIDATION_ERROR");
  await owner.client
    .post("/api/auth/sign-in/email", { email: owner.email, password: "chosen by mail" })
    .expect(200);
});

test("a new password ends every other reset link, whether it was set by a link or in the settings", async () => {
  const owner = await service.signUp();
  const other = await service.signUp();
  const link = async ({ email }: { email: string }) => {
    await service.client().post("/api/auth/request-password-reset", { email }).expect(200);
    return tokenOf(await service.mailer.next(email));
  };
  const reset = (token: string, newPassword: string) =>
    service.client().post("/api/auth/reset-password", { token, newPassword });
  for (const { email } of [owner, other]) await service.mailer.next(email);
  const [first, second, theirs] = [await link(owner), await link(owner), await link(other)];
  await reset(second, "the second link").expect(200);
  await reset(first, "the first link").expect(400);

  const third = await link(owner);
  const { client } = owner;
  const credentials = { email: owner.email, password: "the second link" };
  await client.post("/api/auth/sign-in/email", credentials).expect(200);
  const change = { currentPassword: "the second link", newPassword: "from the settings" };
  await client.post("/api/auth/change-password", change).expect(200);
  await reset(third, "the third link").expect(400);
  await reset(theirs, "another account's link").expect(200);
});

test("deleting an account deletes its projects and reset links, and ends its sessions", async () => {
  const owner = await service.signUp();
  await service.client().post("/api/auth/request-password-reset", { email: owner.email }).expect(200);
  const wrong = await owner.client.post("/api/auth/delete-user", { password: "not it" }).expect(400);
  assert.equal(wrong.body.code, "VALIDATION_ERROR");
  const { cookie } = owner.client;
  await owner.client.post("/api/auth/delete-user", { password: owner.password }).expect(200);
  owner.client.cookie = cookie;
  await owner.client.get("/api/projects").expect(401);
  for (const [table, column] of [
    ["accounts", "id"],
    ["projects", "account_id"],
    ["sessions", "account_id"],
    ["credentials", "account_id"],
    ["email_links", "account_id"],
    ["verifications", "value"],
  ]) {
    const { rowCount } = await service.db.pool.query(`select from ${table} where ${column} = $1`, [
      owner.accountId,
    ]);
    assert.equal(rowCount, 0, `${table} still knows the account`);
  }
});

test("an email on its way when its account is deleted does not stay in the outbox", async t => {
  const owner = await service.signUp();
  await service.mailer.next(owner.email);
  const outbox: string[] = [];
  const [asked, deleted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  t.mock.method(service.mailer, "send", async ({ to }: { to: string }) => {
    asked.resolve();
    await deleted.promise;
    outbox.push(to);
  });
  const forget = t.mock.method(service.mailer, "forget", async (to: string) => {
    for (const at of outbox.keys()) if (outbox[at] === to) outbox.splice(at, 1);
  });
  await service.client().post("/api/auth/request-password-reset", { email: owner.email }).expect(200);
  await asked.promise;
  await owner.client.post("/api/auth/delete-user", { password: owner.password }).expect(200);
  assert.equal(forget.mock.callCount(), 1);
  deleted.resolve();
  await eventually(() => assert.equal(forget.mock.callCount(), 2));
  assert.deepEqual(outbox, []);
});

test("the log contains no passwords, tokens, cookies or keys", async () => {
  const owner = await service.signUp({ password: "canary-password" });
  const token = tokenOf(await service.mailer.next(owner.email));
  await service.client().get(`/verify-email?token=${token}`);
  await owner.client.post("/api/auth/sign-in/email", { email: owner.email, password: "canary-wrong" });
  const log = service.logs.join("");
  for (const secret of ["canary-password", "canary-wrong", token, owner.client.cookie.split("=")[1]!]) {
    assert.equal(log.includes(secret), false);
  }
  for (const line of service.logs) assert.doesNotThrow(() => JSON.parse(line));
});
