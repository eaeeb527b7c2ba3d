// The ingestion log over HTTP: every response to a valid key, and no payload.

import assert from "node:assert/strict";
import { channel } from "node:diagnostics_channel";
import type { IncomingMessage, Server } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { suite, test } from "node:test";
import type { IngestionMinute } from "../../../src/http/ingestion/schemas.ts";
import { makeAgent, makeKey, type Owner } from "../../support/app.ts";
import { canonicalBody, canonicalSpan, encodings, exportedSpan, exportOf } from "../../support/bodies.ts";
import { eventually } from "../../support/eventually.ts";
import { jsonOf, type Sent, send } from "../../support/send.ts";
import { serviceName, startTestService } from "../../support/service.ts";
import { world } from "../../support/world.ts";
import { resourceSpans } from "../../wire/make-body.ts";

const service = world({ roles: ["http"] });

const read = async ({ client, projectId }: Owner, query = "limit=50") =>
  (await client.read(`/api/projects/${projectId}/ingestion?${query}`)).items;

const summary = async ({ client, projectId }: Owner, query = "") =>
  await client.read(`/api/projects/${projectId}/ingestion/summary?${query}`);

/** The log once it contains this many requests: it is written after the responses. */
function logged(owner: Owner, requests: number) {
  return eventually(async () => {
    const items = await read(owner, "limit=200");
    assert.equal(
      items.reduce((sum, item) => sum + item.requests, 0),
      requests,
    );
    return items;
  });
}

/** An account of its own, with an agent that has `serviceName`, and a key. */
async function newSender(options: { verified?: boolean } = {}) {
  const owner = await service.signUp(options);
  const agent = await makeAgent(owner, { otlpServiceName: serviceName });
  const { id: keyId, key } = await makeKey(owner, { name: "Production" });
  return { owner, agent, keyId, key, send: (sent: Sent) => service.send({ key, ...sent }) };
}

/** The response to a request of which only the head is sent, when Node's timeout is over. */
async function timedOut(key: string): Promise<string> {
  const started = channel("http.server.request.start");
  const client = connect(Number(new URL(service.url).port), "127.0.0.1");
  const expire = (message: unknown) => {
    const { request, server } = message as { request: IncomingMessage; server: Server };
    if (request.headers["x-api-key"] !== key) return;
    started.unsubscribe(expire);
    const error = Object.assign(new Error("timeout"), { code: "ERR_HTTP_REQUEST_TIMEOUT" });
    // Once the service reads the body.
    request.once("resume", () => server.emit("clientError", error, request.socket));
  };
  started.subscribe(expire);
  const head = ["POST /public/traces HTTP/1.1", "host: localhost", "content-type: application/json"];
  client.write([...head, `x-api-key: ${key}`, "content-length: 1000", "", ""].join("\r\n"));
  return await text(client);
}

// The log is written up to 2 s after a response, so these tests wait side by side.
suite("the ingestion log", { concurrency: true }, () => {
  test("accepted requests are logged by key and agent, or by key, agent and service name", async () => {
    const { owner, agent, keyId, send } = await newSender();
    const spans = [canonicalSpan(), canonicalSpan({ span_id: "b" })];
    await send({ body: canonicalBody(agent.id, { spans }) });
    await send({ body: exportOf([exportedSpan()]) });
    await send(encodings.protobuf(exportOf([exportedSpan(), exportedSpan()])));
    const items = await logged(owner, 3);
    const common = {
      ...{ code: "OK", keyId, keyName: "Production", agentId: agent.id },
      ...{ reasons: [], records: 0, dropped: [], rejection: null },
    };
    const sums = new Map<string | null, { requests: number; spans: number }>();
    for (const { id, at, serviceName, requests, spans, ...rest } of items) {
      assert.match(id, /^[0-9a-f-]{36}$/);
      assert.match(at, /:00\.000Z$/);
      assert.deepEqual(rest, common);
      const sum = sums.get(serviceName) ?? { requests: 0, spans: 0 };
      sums.set(serviceName, { requests: sum.requests + requests, spans: sum.spans + spans });
    }
    assert.deepEqual(
      sums,
      new Map([
        [null, { requests: 1, spans: 2 }],
        [serviceName, { requests: 2, spans: 3 }],
      ]),
    );
  });

  test("every rejected request with a valid key is logged by its code, with the service names it contains", async () => {
    const { owner, agent, send } = await newSender();
    const other = await makeAgent(owner, { otlpServiceName: "other-agent" });
    const { key: narrow } = await makeKey(owner, { access: "granular", agentIds: [agent.id] });
    const requests: [code: string, name: string | null, sent: Sent][] = [
      ["VALIDATION_ERROR", null, { body: "{" }],
      ["VALIDATION_ERROR", null, { body: canonicalBody(agent.id, { spans: [] }) }],
      ["UNSUPPORTED_MEDIA_TYPE", null, { type: "text/plain" }],
      ["PAYLOAD_TOO_LARGE", null, { headers: { "content-length": 31_457_281 }, body: "{" }],
      ["CUSTOM_API_PLATFORM_NOT_FOUND", null, { body: canonicalBody(undefined) }],
      ["OTLP_NO_SPANS", null, { body: { resourceSpans: [] } }],
      ["OTLP_PROTOBUF_INVALID", null, { type: "application/x-protobuf", body: Buffer.from("x") }],
      ["OTLP_SERVICE_NAME_REQUIRED", null, { body: exportOf([exportedSpan()], null) }],
      ["OTLP_ID_INVALID", serviceName, { body: exportOf([exportedSpan({ spanId: "0".repeat(16) })]) }],
      ["OTLP_PLATFORM_NOT_FOUND", "shop-bot", { body: exportOf([exportedSpan()], "shop-bot") }],
      [
        "OTLP_PLATFORM_NOT_ALLOWED",
        "other-agent",
        { key: narrow, body: exportOf([exportedSpan()], "other-agent") },
      ],
    ];
    for (const [code, , sent] of requests) {
      const { bytes } = await send(sent);
      assert.ok(bytes.includes(code), `${code}: ${bytes}`);
    }
    const items = await logged(owner, requests.length);
    const said = (rows: [string, string | null][]) =>
      new Set(rows.map(([code, name]) => `${code} of ${name}`));
    assert.deepEqual(
      said(items.map(item => [item.code, item.serviceName])),
      said(requests.map(([code, name]) => [code, name])),
    );
    const isNamed = (code: string) => code === "OTLP_PLATFORM_NOT_ALLOWED";
    for (const { code, spans, agentId, reasons, rejection } of items) {
      const named = isNamed(code) ? other.id : null;
      if (code !== "VALIDATION_ERROR") assert.deepEqual([spans, agentId, reasons], [0, named, []], code);
      assert.equal(rejection!.code, code);
      assert.match(rejection!.requestId, /^[0-9a-f-]{36}$/);
    }
  });

  test("a request whose body takes too long to arrive is logged and counted as it was answered", async () => {
    const { owner, key } = await newSender();
    const response = await timedOut(key);
    assert.match(response, /^HTTP\/1\.1 408 /);
    const [item] = await logged(owner, 1);
    assert.deepEqual([item!.code, item!.rejection!.code], ["REQUEST_TIMEOUT", "REQUEST_TIMEOUT"]);
    assert.equal(item!.rejection!.requestId, JSON.parse(response.split("\r\n\r\n")[1]!).requestId);
    await eventually(async () => {
      const body = await owner.client.read("/metrics");
      assert.match(body, /^svc_ingest_requests_total\{code="REQUEST_TIMEOUT"\} 1$/m);
    });
  });

  test("requests of an unverified account are in the log, and requests without a valid key are in no log", async () => {
    const { owner, agent, keyId, key, send } = await newSender({ verified: false });
    await send({ body: canonicalBody(agent.id) });
    for (const wrong of [null, "", `${key}x`]) await send({ key: wrong, body: canonicalBody(agent.id) });
    const [item, ...more] = await logged(owner, 1);
    assert.deepEqual([item!.code, item!.keyId, more], ["EMAIL_NOT_VERIFIED", keyId, []]);
  });

  test("a partly rejected batch lists the codes of its rejected traces, under their service names", async () => {
    const { owner, agent, send } = await newSender();
    const { status } = await send({
      body: {
        resourceSpans: [
          resourceSpans(serviceName, [
            exportedSpan(),
            exportedSpan({ spanId: "x" }),
            exportedSpan({ spanId: "y" }),
          ]),
          resourceSpans("shop-bot", [exportedSpan()]),
        ],
      },
    });
    assert.equal(status, 200);
    const items = await logged(owner, 2);
    assert.deepEqual(
      new Map(items.map(item => [item.serviceName, [item.code, item.agentId, item.spans, item.reasons]])),
      new Map([
        [serviceName, ["PARTIAL", agent.id, 1, [{ code: "OTLP_ID_INVALID", traces: 2 }]]],
        ["shop-bot", ["PARTIAL", null, 0, [{ code: "OTLP_PLATFORM_NOT_FOUND", traces: 1 }]]],
      ]),
    );
  });

  test("an agent's last rejection is the latest request that names it, or names none, with a key that may write to it", async () => {
    const { owner, agent, send } = await newSender();
    const other = await makeAgent(owner, { otlpServiceName: "other-agent" });
    const { key: narrow } = await makeKey(owner, { access: "granular", agentIds: [other.id] });
    const lastOf = async ({ id }: { id: string }) =>
      (await owner.client.read(`/api/agents/${id}/last-rejection`)).rejection;
    assert.deepEqual([await lastOf(agent), await lastOf(other)], [null, null]);

    const invalid = [canonicalSpan({ name: 7, attributes: { secret: 1 } }), { span_id: "b", attributes: [] }];
    const { bytes, status } = await send({ body: canonicalBody(agent.id, { spans: invalid }) });
    assert.equal(status, 400);
    const first = await eventually(async () => {
      const last = await lastOf(agent);
      assert.ok(last);
      return last;
    });
    assert.equal(first.requestId, JSON.parse(bytes.toString()).requestId);
    assert.deepEqual(first.paths, ["spans[0].name", "spans[1].name", "spans[1].attributes"]);
    assert.ok(Math.abs(Date.now() - Date.parse(first.at)) < 60_000);
    assert.equal(await lastOf(other), null, "the request names the other agent");

    const wait = (of: { id: string }, code: string) =>
      eventually(async () => assert.equal((await lastOf(of))?.code, code));
    await send({ key: narrow, body: "{" });
    await wait(other, "VALIDATION_ERROR");
    assert.equal((await lastOf(agent))!.requestId, first.requestId, "the key may not write to this one");
    await send({ key: narrow, body: exportOf([exportedSpan()]) });
    await wait(agent, "OTLP_PLATFORM_NOT_ALLOWED");
    await send({ key: narrow, body: canonicalBody(agent.id) });
    await wait(agent, "CUSTOM_API_PLATFORM_NOT_FOUND");
    assert.equal((await lastOf(other))!.code, "VALIDATION_ERROR");
    await send({ body: exportOf([exportedSpan()], "shop-bot") });
    await wait(other, "OTLP_PLATFORM_NOT_FOUND");
    await wait(agent, "OTLP_PLATFORM_NOT_FOUND");
    await owner.client.patch(`/api/agents/${other.id}`, { otlpServiceName: "shop-bot" }).expect(200);
    await wait(agent, "CUSTOM_API_PLATFORM_NOT_FOUND");
    await send({ path: "/v1/traces", body: "" });
    await wait(agent, "NOT_FOUND");
    await wait(other, "NOT_FOUND");
  });

  test("the table contains no payload and no key", async () => {
    const { owner, agent, key, send } = await newSender();
    const secret = "the customer's secret";
    const attributes = [{ key: "gen_ai.prompt", value: { stringValue: secret } }];
    const headers = { "x-request-id": secret };
    await send({ headers, body: canonicalBody(agent.id, { spans: [canonicalSpan({ name: secret })] }) });
    await send({ headers, body: canonicalBody(agent.id, { spans: [{ name: secret }] }) });
    await send({ headers, body: canonicalBody(secret) });
    await send({ headers, body: exportOf([exportedSpan({ name: secret, attributes })], "nobody") });
    await send({ headers, body: secret });
    const attribute = { [secret]: secret };
    await send({
      headers,
      body: canonicalBody(agent.id, { spans: [{ name: 1, attributes: attribute }], metadata: secret }),
    });
    await send({ body: exportOf([exportedSpan({ attributes: [{ [secret]: secret }] })]) });
    await logged(owner, 7);
    const { rows } = await service.db.pool.query<{ row: string }>(
      "select m::text as row from ingestion_minutes m where project_id = $1",
      [owner.projectId],
    );
    assert.ok(rows.length >= 4);
    for (const { row } of rows) {
      assert.ok(!row.includes("secret"), row);
      assert.ok(!row.includes(key.slice(4, 12)), row);
    }
  });

  test("hostile service names are logged and can be filtered, and break no log", async () => {
    const { owner, send } = await newSender();
    const names = [
      "\0",
      "\ud800!",
      "x".repeat(100_000),
      "<script>alert(1)</script>",
      "%' or 1=1 --",
      "\u202e",
      "🦊",
    ];
    for (const name of names) {
      assert.equal((await send({ body: exportOf([exportedSpan()], name) })).status, 404);
    }
    const items = await logged(owner, names.length);
    const stored = new Set(items.map(item => item.serviceName));
    const expected = ["\ufffd", "\ufffd!", `${"x".repeat(499)}…`, ...names.slice(3)];
    assert.deepEqual(stored, new Set(expected));
    for (const name of expected) {
      const found = await read(owner, `${new URLSearchParams({ serviceName: name })}`);
      assert.deepEqual(new Set(found.map(item => item.serviceName)), new Set([name]));
    }
  });

  test("filters narrow the list, and pages follow each other without gaps", async () => {
    const { owner, agent, keyId, send } = await newSender();
    const second = await makeKey(owner, { name: "Second" });
    for (const name of ["a", "b", "c", "d", "e"]) await send({ body: exportOf([exportedSpan()], name) });
    await send({ key: second.key, body: canonicalBody(agent.id) });
    const all = await logged(owner, 6);
    assert.deepEqual(
      (await read(owner, "code=OK")).map(item => item.keyName),
      ["Second"],
    );
    assert.equal((await read(owner, `keyId=${keyId}`)).length, all.length - 1);
    assert.deepEqual(await read(owner, "to=2020-01-01T00:00:00Z"), []);
    assert.deepEqual(await read(owner, "from=9999-01-01T00:00:00Z"), []);
    assert.deepEqual(await read(owner, "from=0000-01-01T00:00:00Z&to=9999-12-31T23:59:59Z"), all);

    const pages: IngestionMinute[] = [];
    for (let cursor = ""; ; ) {
      const body = await owner.client.read(`/api/projects/${owner.projectId}/ingestion?limit=2${cursor}`);
      pages.push(...body.items);
      if (body.nextCursor === null) break;
      cursor = `&cursor=${body.nextCursor}`;
    }
    assert.deepEqual(pages, all);

    for (const query of ["?code=NONE", "?from=yesterday", "?keyId=x", "?serviceName=%00"]) {
      const { status } = await owner.client.get(`/api/projects/${owner.projectId}/ingestion${query}`);
      assert.equal(status, 400, query);
    }
    for (const path of ["ingestion", "ingestion/summary"]) {
      const query = "from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z";
      const { body } = await owner.client
        .get(`/api/projects/${owner.projectId}/${path}?${query}`)
        .expect(400);
      assert.deepEqual(body.issues, [{ path: "from", message: "Must not be after `to`." }], path);
    }
    await owner.client.delete(`/api/keys/${second.id}`).expect(204);
    const [revoked] = await read(owner, "code=OK");
    assert.deepEqual([revoked!.keyId, revoked!.keyName], [second.id, null]);
  });

  test("the summary adds up codes and service names, and marks a name as unknown until an agent has it", async () => {
    const { owner, agent, send } = await newSender();
    for (let count = 0; count < 3; count++) await send({ body: exportOf([exportedSpan()], "shop-bot") });
    await send({ body: exportOf([exportedSpan(), exportedSpan()]) });
    await send({ body: exportOf([exportedSpan(), exportedSpan({ spanId: "x" })]) });
    await send({ body: canonicalBody(agent.id) });
    await logged(owner, 6);
    const { codes, services } = await summary(owner);
    assert.deepEqual(codes, [
      { code: "OTLP_PLATFORM_NOT_FOUND", requests: 3, spans: 0 },
      { code: "OK", requests: 2, spans: 3 },
      { code: "PARTIAL", requests: 1, spans: 1 },
    ]);
    const minute = /^\d{4}-\d\d-\d\dT\d\d:\d\d:00\.000Z$/;
    for (const { lastSeenAt } of services) assert.match(lastSeenAt, minute);
    assert.deepEqual(
      services.map(({ lastSeenAt, ...rest }) => rest),
      [
        {
          serviceName,
          agentId: agent.id,
          unknown: false,
          requests: 2,
          spans: 3,
          codes: { OK: 1, PARTIAL: 1 },
        },
        {
          serviceName: "shop-bot",
          agentId: null,
          unknown: true,
          requests: 3,
          spans: 0,
          codes: { OTLP_PLATFORM_NOT_FOUND: 3 },
        },
      ],
    );
    assert.deepEqual(await summary(owner, "to=2020-01-01T00:00:00Z"), { codes: [], services: [] });

    await owner.client.patch(`/api/agents/${agent.id}`, { otlpServiceName: "shop-bot" }).expect(200);
    const renamed = await summary(owner);
    assert.deepEqual(
      renamed.services.map(({ serviceName, agentId, unknown }) => [serviceName, agentId, unknown]),
      [
        ["shop-bot", agent.id, false],
        [serviceName, null, true],
      ],
    );
  });

  test("requests of one project are in no other project's log, even with the same service names", async () => {
    const [one, other] = [await newSender(), await newSender()];
    await one.send({ body: exportOf([exportedSpan()]) });
    await other.send({ body: exportOf([exportedSpan()], "shop-bot") });
    const [mine] = await logged(one.owner, 1);
    const [theirs] = await logged(other.owner, 1);
    assert.deepEqual([mine!.keyId, theirs!.keyId], [one.keyId, other.keyId]);
    const { services } = await summary(one.owner);
    assert.deepEqual(
      services.map(item => item.serviceName),
      [serviceName],
    );
    for (const path of ["ingestion", "ingestion/summary"]) {
      await one.owner.client.get(`/api/projects/${other.owner.projectId}/${path}`).expect(404);
    }
  });

  test("a service writes its counts before it stops", async () => {
    const { owner, agent, key } = await newSender();
    const second = await startTestService({ config: { roles: ["http"] }, databaseUrl: service.databaseUrl });
    const answer = await send({ url: second.url, key }, { body: canonicalBody(agent.id) });
    assert.equal(jsonOf(answer).status, "created");
    await second.stop();
    assert.deepEqual(
      (await read(owner)).map(item => [item.code, item.requests]),
      [["OK", 1]],
    );
  });
});
