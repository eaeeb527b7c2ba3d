// Tests the limits on sign-in, sign-up and password resets, by account and by IP address, behind a proxy too.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import { limitAttempts, signUpsPerMinute } from "../../../src/http/accounts/attempt-limits.ts";
import type { Refusal } from "../../../src/model/refusal.ts";
import { openVault } from "../../../src/store/secrets/vault.ts";
import { type Owner, startTestApp, type TestApp, tokenOf } from "../../support/app.ts";
import { endWindows } from "../../support/attempts.ts";
import { refusalIn } from "../../support/client.ts";
import { eventually } from "../../support/eventually.ts";

let service: TestApp;
/** A second node on the same database. */
let second: TestApp;
let other: TestApp;
before(async () => {
  const options = { limitAccounts: true, trustedProxies: ["127.0.0.1"] };
  service = await startTestApp(options);
  second = await startTestApp({ ...options, databaseUrl: service.databaseUrl });
  other = await startTestApp({ limitAccounts: true });
});
after(async () => {
  await second.close();
  await service.close();
  await other.close();
});

function signIn(app: TestApp, { email, password }: Pick<Owner, "email" | "password">, ip?: string) {
  const headers = ip === undefined ? {} : { "x-forwarded-for": ip };
  return app.client().request("POST", "/api/auth/sign-in/email", { email, password }, headers);
}

function ask(app: TestApp, path: string, body: object, ip: string) {
  return app.client().request("POST", path, body, { "x-forwarded-for": ip });
}

/** The statuses of wrong passwords for the account, one after the other. */
async function guess(app: TestApp, email: string, times: number, ip?: (at: number) => string) {
  const statuses: number[] = [];
  for (let at = 0; at < times; at++) {
    statuses.push((await signIn(app, { email, password: `a guess ${at}` }, ip?.(at))).status);
  }
  return statuses;
}

const ten401 = Array.from({ length: 10 }, () => 401);

test("after ten wrong passwords a client has to wait, also with the right one", async () => {
  const owner = await service.signUp();
  assert.deepEqual(await guess(service, owner.email, 11, () => "198.51.100.1"), [...ten401, 429]);
  const refused = await signIn(service, owner, "198.51.100.1");
  assert.equal(refused.status, 429);
  assert.equal(refused.body.code, "RATE_LIMITED");
  const seconds = Number(refused.headers.get("retry-after"));
  assert.ok(seconds > 0 && seconds <= 300, `waits ${seconds} s`);
});

test("wrong passwords from one IP address lock out neither the owner elsewhere nor others behind it", async () => {
  const [owner, neighbor] = [await service.signUp(), await service.signUp()];
  await guess(service, owner.email, 11, () => "198.51.100.2");
  assert.equal((await signIn(service, owner, "198.51.100.3")).status, 200);
  assert.equal((await signIn(service, neighbor, "198.51.100.2")).status, 200);
});

test("guesses at one account from many IP addresses end after a hundred, on both nodes, but for its owner", async () => {
  const owner = await service.signUp();
  const home = "203.0.113.9";
  assert.equal((await signIn(service, owner, home)).status, 200);
  const statuses = [
    ...(await guess(service, owner.email, 50, at => `192.0.2.${at}`)),
    ...(await guess(second, owner.email, 51, at => `192.0.2.${at + 50}`)),
  ];
  assert.deepEqual([statuses[99], statuses[100]], [401, 429]);
  // The owner signs in where it was signed in before, and elsewhere after a reset.
  assert.equal((await signIn(second, owner, home)).status, 200);
  const away = "203.0.113.10";
  assert.equal((await signIn(second, owner, away)).status, 429);
  await service.mailer.next(owner.email);
  await ask(service, "/api/auth/request-password-reset", { email: owner.email }, away);
  const reset = { token: tokenOf(await service.mailer.next(owner.email)), newPassword: "chosen by mail" };
  assert.equal((await ask(service, "/api/auth/reset-password", reset, away)).status, 200);
  const chosen = { email: owner.email, password: reset.newPassword };
  assert.equal((await signIn(second, chosen, away)).status, 200);
  assert.equal((await signIn(second, chosen, "203.0.113.11")).status, 429);
});

test("a client that signed in before has its own limit of wrong passwords, and no other", async () => {
  const owner = await service.signUp();
  const ip = "203.0.113.20";
  assert.equal((await signIn(service, owner, ip)).status, 200);
  for (let at = 0; at < 100; at++) await guess(service, `neighbor-${at}@example.com`, 1, () => ip);
  assert.deepEqual(await guess(service, "neighbor@example.com", 1, () => ip), [429]);
  assert.equal((await signIn(service, owner, ip)).status, 200);
  assert.deepEqual(await guess(service, owner.email, 11, () => ip), [...ten401, 429]);
});

test("a header that a client adds to the proxy's lifts no limit, and locks out nobody", async () => {
  const [owner, neighbor] = [await service.signUp(), await service.signUp()];
  const from = (email: string, password: string, forwarded: string) =>
    service.client().request(
      "POST",
      "/api/auth/sign-in/email",
      { email, password },
      {
        "x-forwarded-for": "198.51.100.80",
        forwarded,
      },
    );
  const statuses: number[] = [];
  for (let at = 0; at < 11; at++)
    statuses.push((await from(owner.email, "a guess", `for=203.0.113.${at}`)).status);
  assert.deepEqual(statuses, [...ten401, 429]);
  assert.equal((await from(neighbor.email, neighbor.password, "for=unknown")).status, 200);
  assert.equal((await signIn(service, owner, "203.0.113.1")).status, 200);
});

test("attempts from many networks of one /48 of IPv6 count together, ten times as many as from one", async () => {
  const attempt = (ip: string) =>
    limitAttempts(
      { db: service.db, vault: openVault(Buffer.alloc(32)) },
      "/verification/confirm",
      { ip },
      async () => "allowed",
    ).catch(({ code }: Refusal) => code);
  const answers: string[] = [];
  for (let at = 0; at < 10; at++) {
    for (let times = 0; times < 60; times++) answers.push(await attempt(`2001:db8:8:${at}::${times}`));
  }
  assert.deepEqual(new Set(answers), new Set(["allowed"]));
  assert.deepEqual(
    [await attempt("2001:db8:8:ffff::1"), await attempt("2001:db8:88::1")],
    ["RATE_LIMITED", "allowed"],
  );
});

test("wrong passwords from one network of IPv6 count together", async () => {
  const owner = await service.signUp();
  const statuses = await guess(service, owner.email, 11, at => `2001:db8:7:1::${at + 1}`);
  assert.deepEqual(statuses, [...ten401, 429]);
  assert.equal((await signIn(service, owner, "2001:db8:7:2::1")).status, 200);
});

// Each: what is limited, how often, and a request that reaches the limit from one IP address.
for (const [what, max, path, body] of [
  [
    "sign-ups",
    signUpsPerMinute,
    "/api/auth/sign-up/email",
    (at: number) => ({ email: `crowd-${at}@example.com`, password: "long enough" }),
  ],
  [
    "emails for resets",
    30,
    "/api/auth/request-password-reset",
    (at: number) => ({ email: `reset-${at}@example.com` }),
  ],
  ["resets", 30, "/api/auth/reset-password", () => ({ token: "unknown", newPassword: "long enough" })],
  ["confirmations", 60, "/api/verification/confirm", () => ({ token: "unknown" })],
  ["looks at links", 60, "/api/verification/link", () => ({ token: "unknown" })],
] as const) {
  test(`${what} from one IP address are limited for both nodes together, and answered with Retry-After`, async () => {
    const ip = "198.51.100.30";
    const statuses: number[] = [];
    for (let at = 0; at < max; at++) {
      statuses.push((await ask(at % 2 ? service : second, path, body(at), ip)).status);
    }
    assert.equal(statuses.includes(429), false);
    for (const node of [service, second]) {
      const reply = await ask(node, path, body(max), ip);
      assert.deepEqual([reply.status, refusalIn(reply).code], [429, "RATE_LIMITED"]);
      assert.ok(Number(reply.headers.get("retry-after")) >= 1);
    }
    assert.notEqual((await ask(service, path, body(max), "198.51.100.31")).status, 429);
  });
}

test("verification emails are limited for both nodes together", async () => {
  const owner = await service.signUp();
  const there = second.client();
  there.cookie = owner.client.cookie;
  const { body, headers } = await there.post("/api/verification/resend").expect(429);
  assert.equal(body.code, "RATE_LIMITED");
  assert.ok(Number(headers.get("retry-after")) >= 1);
});

test("an account that is deleted and created again gets no more verification emails than one that stays", async () => {
  const email = "again@example.com";
  const sent = () => service.mailer.mails.filter(({ to }) => to === email).length;
  for (let at = 1; at <= 5; at++) {
    const { client, password } = await service.signUp({ email: at % 2 ? email : email.toUpperCase() });
    await eventually(() => assert.equal(sent(), at));
    await client.post("/api/auth/delete-user", { password }).expect(200);
  }
  const { client } = await service.signUp({ email });
  const { headers } = await client.post("/api/verification/resend").expect(429);
  const seconds = Number(headers.get("retry-after"));
  assert.ok(seconds > 0 && seconds <= 3_600, `waits ${seconds} s`);
  await endWindows(service.db);
  await client.post("/api/verification/resend").expect(200);
  assert.equal(sent(), 6);
});

test("of an email only a keyed hash is stored, and it goes with the account", async () => {
  const stored = async () => {
    const { rows } = await service.db.pool.query<{ kind: string; hex: string }>(
      "select kind, encode(subject, 'hex') as hex from attempts",
    );
    return rows.map(({ kind, hex }) => `${kind} ${hex}`);
  };
  const before = new Set(await stored());
  const owner = await service.signUp({ email: "Hashed@example.com" });
  const ip = "203.0.113.40";
  await guess(service, owner.email, 1, () => ip);
  assert.equal((await signIn(service, owner, ip)).status, 200);
  const added = (await stored()).filter(row => !before.has(row));
  for (const kind of ["/auth/sign-in/email 0", "/auth/sign-in/email 1", "known client", "verification email"])
    assert.ok(
      added.some(row => row.startsWith(kind)),
      kind,
    );
  for (const subject of [["hashed@example.com"], ["hashed@example.com", ip]]) {
    const hash = createHash("sha256").update(JSON.stringify(subject)).digest("hex");
    assert.ok(added.every(row => !row.includes(hash.slice(0, 32))));
  }
  await owner.client.post("/api/auth/delete-user", { password: owner.password }).expect(200);
  const left = (await stored()).filter(row => added.includes(row));
  // Others count IP addresses, or emails that were sent in the last hour.
  assert.deepEqual(
    left.filter(row => /^(?:\/auth\/sign-in\/email [01]|known client) /.test(row)),
    [],
  );
});

test("a verification email that cannot be sent does not count", async () => {
  const { client, email } = await service.signUp();
  await service.mailer.next(email);
  await service.db.pool.query("delete from email_links where email = $1", [email]);
  service.mailer.down = true;
  for (let at = 0; at < 6; at++) assert.ok((await client.post("/api/verification/resend")).status >= 500);
  service.mailer.down = false;
  await client.post("/api/verification/resend").expect(200);
});

test("guesses at many accounts from one IP address end after a hundred", async () => {
  const statuses: number[] = [];
  for (let at = 0; at < 101; at++) {
    const account = { email: `nobody-${at}@example.com`, password: "a guess again" };
    statuses.push((await signIn(service, account, "198.51.100.4")).status);
  }
  assert.deepEqual([statuses[99], statuses[100]], [401, 429]);
});

test("right passwords do not count", async () => {
  const owner = await service.signUp();
  await guess(service, owner.email, 9, () => "198.51.100.5");
  for (let at = 0; at < 3; at++) assert.equal((await signIn(service, owner, "198.51.100.5")).status, 200);
  assert.deepEqual(await guess(service, owner.email, 2, () => "198.51.100.5"), [401, 429]);
});

test("parallel guesses do not pass the limit", async () => {
  const owner = await service.signUp();
  const replies = await Promise.all(
    Array.from({ length: 30 }, (_, at) =>
      signIn(service, { email: owner.email, password: `a guess ${at}` }, "198.51.100.6"),
    ),
  );
  assert.equal(replies.filter(({ status }) => status === 401).length, 10);
});

test("behind a proxy that is not trusted all are one client, those who signed in before still do, and the log names the setting", async () => {
  const owner = await other.signUp();
  assert.equal((await signIn(other, owner, "198.51.100.2")).status, 200);
  const statuses: number[] = [];
  for (let at = 0; at < 11; at++) {
    statuses.push(...(await guess(other, `nobody-${at}@example.com`, 10, () => `198.51.100.${at}`)));
  }
  assert.deepEqual([statuses[99], statuses[100]], [401, 429]);
  assert.equal((await signIn(other, owner, "198.51.100.2")).status, 200);
  const warnings = other.logs.filter(line => line.includes("SVC_TRUSTED_PROXIES"));
  assert.equal(warnings.length, 1);
  await endWindows(other.db);
});

test("a forged header does not make a client another one", async () => {
  const owner = await other.signUp();
  const statuses = await guess(other, owner.email, 11, at => `10.0.0.${at}`);
  assert.deepEqual(statuses, [...ten401, 429]);
});

test("reset emails are limited by the email they go to", async () => {
  const owner = await service.signUp();
  const statuses: number[] = [];
  for (let at = 0; at < 6; at++) {
    const body = { email: owner.email.toUpperCase() };
    const headers = { "x-forwarded-for": `198.51.100.${50 + at}` };
    const path = "/api/auth/request-password-reset";
    statuses.push((await service.client().request("POST", path, body, headers)).status);
  }
  assert.deepEqual(statuses, [200, 200, 200, 200, 200, 429]);
});

test("loading the dashboard is not limited", async () => {
  const { client } = await service.signUp();
  const replies = await Promise.all(Array.from({ length: 650 }, () => client.get("/api/auth/get-session")));
  assert.ok(replies.every(({ status }) => status === 200));
});

test("sessions list the client's own IP address", async () => {
  const owner = await service.signUp();
  const { headers } = await signIn(service, owner, "198.51.100.77");
  const cookie = headers.get("set-cookie")!.split(";")[0]!;
  const { body } = await service.client().request("GET", "/api/auth/list-sessions", undefined, { cookie });
  assert.ok(body.some(session => session.ipAddress === "198.51.100.77"));
});

test("counts of attempts that have ended are removed", async () => {
  const { db } = service;
  await endWindows(db);
  for (let at = 0; at < 25; at++) await guess(service, `swept-${at}@example.com`, 1, () => "198.51.100.8");
  const { rows } = await db.pool.query("select 1 from attempts where ends_at < now()");
  assert.equal(rows.length, 0);
});
