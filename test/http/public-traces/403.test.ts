// 403: an unverified email, and an agent that the key cannot access.
import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultQuotas } from "../../../src/model/quotas.ts";
import { verifyAccount } from "../../../src/store/accounts/accounts.ts";
import { makeAgent, makeKey } from "../../support/app.ts";
import { canonicalBody, encodings, exportedSpan, exportOf } from "../../support/bodies.ts";
import { eventually } from "../../support/eventually.ts";
import { jsonOf, messageOf, refused } from "../../support/send.ts";
import { serviceName } from "../../support/service.ts";
import { world } from "../../support/world.ts";
import { resourceSpans } from "../../wire/make-body.ts";

const service = world({ roles: ["http"] });

test("until the email is verified every trace is EMAIL_NOT_VERIFIED; then the same key stores it", async () => {
  const owner = await service.signUp({ verified: false });
  const agent = await makeAgent(owner, { otlpServiceName: serviceName });
  const { key } = await makeKey(owner);
  const canonical = { key, headers: { "x-request-id": "kept" }, body: canonicalBody(agent.id) };
  const exported = Object.values(encodings).map(encode => ({ key, ...encode(exportOf([exportedSpan()])) }));
  for (const sent of [canonical, ...exported]) {
    const { hint } = refused(await service.send(sent), 403, "EMAIL_NOT_VERIFIED");
    assert.match(String(hint), /verification/);
  }
  const traces = () => owner.client.get(`/api/agents/${agent.id}/traces`).expect(200);
  assert.deepEqual((await traces()).body.items, []);

  await verifyAccount(service.db, owner.accountId);
  assert.equal(jsonOf(await service.send(canonical)).externalId, "kept");
  for (const sent of exported) assert.equal((await service.send(sent)).status, 200);
  assert.equal((await traces()).body.items.length, 3);
});

test("the email is checked after the key, and before type, encoding, size and body", async () => {
  const owner = await service.signUp({ verified: false });
  const { id, key } = await makeKey(owner);
  for (const sent of [
    { type: null },
    { type: "text/plain", body: "{" },
    { headers: { "content-encoding": "br" } },
    { body: Buffer.alloc(31_457_281) },
    { body: "{" },
  ]) {
    refused(await service.send({ key, ...sent }), 403, "EMAIL_NOT_VERIFIED");
  }
  await owner.client.delete(`/api/keys/${id}`).expect(204);
  refused(await service.send({ key }), 401, "UNAUTHORIZED");
});

test("once an account has sent as much as it may in a day, more is DAILY_LIMIT_REACHED, which exporters do not repeat", async () => {
  const owner = await service.signUp();
  const agent = await makeAgent(owner);
  const { key } = await makeKey(owner);
  await service.db.pool.query(
    "insert into account_use values ($1, (now() at time zone 'utc')::date, 0, $2)",
    [owner.accountId, defaultQuotas.bytesPerDay],
  );
  const send = () => service.send({ key, body: canonicalBody(agent.id) });
  await eventually(async () => refused(await send(), 403, "DAILY_LIMIT_REACHED"));
  refused(await service.send({ key, body: "{" }), 403, "DAILY_LIMIT_REACHED");
});

for (const [encoding, encode] of Object.entries(encodings)) {
  test(`a service.name in ${encoding} of an agent that the key cannot access is OTLP_PLATFORM_NOT_ALLOWED`, async () => {
    const owner = await service.signUp();
    const [own, other] = [
      await makeAgent(owner, { otlpServiceName: "own" }),
      await makeAgent(owner, { otlpServiceName: "other" }),
    ];
    const { key } = await makeKey(owner, { access: "granular", agentIds: [own.id] });
    const sent = { key, ...encode(exportOf([exportedSpan()], "other")) };
    refused(await service.send(sent), 403, "OTLP_PLATFORM_NOT_ALLOWED");
    const body = await owner.client.get(`/api/agents/${other.id}/traces`).expect(200);
    assert.deepEqual(body.body.items, []);

    const request = {
      resourceSpans: [resourceSpans("other", [exportedSpan()]), resourceSpans("own", [exportedSpan()])],
    };
    const answer = await service.send({ key, ...encode(request) });
    assert.equal(answer.status, 200);
    const { partialSuccess } =
      encoding === "json" ? jsonOf(answer) : messageOf(answer, "ExportTraceServiceResponse");
    assert.equal(partialSuccess.rejectedSpans, 1);
    assert.match(partialSuccess.errorMessage, /OTLP_PLATFORM_NOT_ALLOWED/);
  });
}
