// The switch of alerts by email, and the link in an email that turns them off without a session (RFC 8058).
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { alertToken } from "../../../src/store/alerts/opt-outs.ts";
import type { Owner, TestApp } from "../../support/app.ts";
import { startWholeApp } from "../../support/whole-app.ts";

let service: TestApp;
let owner: Owner;
let bystander: Owner;
before(async () => {
  service = await startWholeApp();
  owner = await service.verifiedAccount();
  bystander = await service.signUp();
});
after(() => service.close());

const settings = async ({ client }: Owner) => await client.read("/api/email-alerts");
const isOn = async (account: Owner) => (await settings(account)).on;
const turnOn = (account: Owner) => account.client.put("/api/email-alerts", { on: true }).expect(200);
const pathOf = (token: string) => `/alerts/off?token=${token}`;
const oneClick = { "content-type": "application/x-www-form-urlencoded" };

test("alerts are on at first, and each account turns its own off and on", async () => {
  assert.deepEqual(await settings(owner), {
    on: true,
    email: owner.email,
    verified: true,
    mailServer: false,
  });
  assert.equal((await settings(bystander)).verified, false);
  for (const on of [false, false, true, true]) {
    const { body } = await owner.client.put("/api/email-alerts", { on }).expect(200);
    assert.deepEqual([body.on, await isOn(owner), await isOn(bystander)], [on, on, true]);
  }
  for (const body of [{}, { on: "no" }, { on: true, more: 1 }]) {
    await owner.client.put("/api/email-alerts", body).expect(400);
  }
});

test("the link turns off its own account's alerts, for any sender, body and origin, again and again", async () => {
  const token = await alertToken(service.db, owner.accountId);
  const requests: [body: string | undefined, headers: Record<string, string>][] = [
    ["List-Unsubscribe=One-Click", oneClick],
    [
      "List-Unsubscribe=One-Click",
      { ...oneClick, origin: "https://mail.example", "sec-fetch-site": "cross-site" },
    ],
    [
      '--b\r\nContent-Disposition: form-data; name="x"\r\n\r\ny\r\n--b--',
      { "content-type": "multipart/form-data; boundary=b" },
    ],
    ["{", { "content-type": "application/json" }],
    ["\0", { "content-type": "text/plain" }],
    [undefined, {}],
    [undefined, { origin: "null" }],
  ];
  for (const [body, headers] of requests) {
    await turnOn(owner);
    const reply = await service.client().request("POST", pathOf(token), body, headers);
    assert.deepEqual([reply.status, reply.body], [200, { on: false }], JSON.stringify([body, headers]));
    assert.equal(await isOn(owner), false);
  }
  await service.client().request("POST", pathOf(token)).expect(200);
  assert.equal(await isOn(bystander), true);
});

test("reading the link changes nothing", async () => {
  await turnOn(owner);
  const token = await alertToken(service.db, owner.accountId);
  for (const method of ["GET", "HEAD", "PUT", "DELETE"]) {
    await service.client().request(method, pathOf(token));
  }
  assert.equal(await isOn(owner), true);
});

test("a token that was not made for the account turns nothing off", async () => {
  const [mine, theirs] = [owner, bystander].map(({ accountId }) => alertToken(service.db, accountId));
  const [[id], [, mac]] = [(await mine)!.split("."), (await theirs)!.split(".")];
  const forged = [
    `${id}.${mac}`,
    `${id}.`,
    `${id}`,
    `.${mac}`,
    Buffer.from(owner.accountId).toString("base64url"),
    `${(await mine)!.slice(0, -2)}AA`,
    "%00",
    "x".repeat(400),
  ];
  for (const token of forged) {
    const { body } = await service.client().request("POST", pathOf(token), "", oneClick).expect(404);
    assert.equal(body.code, "NOT_FOUND");
  }
  await service.client().request("POST", "/alerts/off", "", oneClick).expect(400);
  await service
    .client()
    .request("POST", pathOf("y".repeat(501)), "", oneClick)
    .expect(400);
  assert.deepEqual([await isOn(owner), await isOn(bystander)], [true, true]);
});

test("the token opens nothing else, and a session opens no other account's link", async () => {
  const token = await alertToken(service.db, owner.accountId);
  const headers = { authorization: `Bearer ${token}` };
  for (const path of ["/api/email-alerts", "/api/projects"]) {
    await service.client().request("GET", path, undefined, headers).expect(401);
  }
});

test("the exception for the link is the only one: the switch needs JSON and its own origin", async () => {
  const { client } = owner;
  await client.request("PUT", "/api/email-alerts", "on=false", oneClick).expect(415);
  const foreign = { origin: "https://mail.example", "content-type": "application/json" };
  await client.request("PUT", "/api/email-alerts", { on: false }, foreign).expect(401);
  assert.equal(await isOn(owner), true);
});

test("the token of a deleted account is accepted and does nothing", async () => {
  const gone = await service.signUp();
  const token = await alertToken(service.db, gone.accountId);
  await gone.client.post("/api/auth/delete-user", { password: gone.password }).expect(200);
  await service.client().request("POST", pathOf(token)).expect(200);
  const { rows } = await service.db.pool.query("select from alert_opt_outs");
  assert.equal(rows.length, 0);
});
