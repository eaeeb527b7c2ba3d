// 503: a temporary failure is reported as one, and retrying neither loses nor duplicates a trace.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { newClient } from "../../../src/store/connection/connect.ts";
import { cachesExpired } from "../../../src/store/ingestion/gather.ts";
import { makeAgent } from "../../support/app.ts";
import { canonicalBody, encodings, exportedSpan, exportOf, newTraceId } from "../../support/bodies.ts";
import { eventually } from "../../support/eventually.ts";
import { exportSpans, openExporter, recordSpans } from "../../support/exporters.ts";
import { failStatements } from "../../support/failing-trigger.ts";
import { type Line, openLine } from "../../support/line.ts";
import { freshDatabase } from "../../support/postgres.ts";
import { refused, type Sent, send } from "../../support/send.ts";
import { serviceName, startTestService, type TestService } from "../../support/service.ts";
import { resourceSpans } from "../../wire/make-body.ts";

let service: TestService;
let line: Line;
let database: Awaited<ReturnType<typeof freshDatabase>>;
before(async () => {
  database = await freshDatabase();
  line = await openLine(database.url);
  service = await startTestService({ config: { roles: ["http"] }, databaseUrl: line.url });
});
after(async () => {
  await service.stop();
  await line.cut();
  await database.drop();
});

async function unavailable(sent: Sent): Promise<void> {
  const answer = await send(service, sent);
  refused(answer, 503, "UNAVAILABLE");
  assert.match(String(answer.headers["retry-after"]), /^[23]$/);
}

test("while the database rejects logins every request is UNAVAILABLE, and the same request is stored once it accepts them", async () => {
  const requests: Sent[] = [
    { headers: { "x-request-id": "rejected" }, body: canonicalBody(service.agent.id) },
    encodings.json(exportOf([exportedSpan()])),
    encodings.protobuf(exportOf([exportedSpan()])),
  ];
  await acceptLogins(false);
  try {
    for (const sent of requests) await unavailable(sent);
  } finally {
    await acceptLogins(true);
  }
  const answers = await Promise.all(requests.map(sent => send(service, sent)));
  assert.deepEqual(
    answers.map(answer => answer.status),
    [201, 200, 200],
  );
});

/** As after a change of its password: sessions are ended, and new ones refused with a code of no outage. */
async function acceptLogins(accepted: boolean): Promise<void> {
  const url = new URL(database.url);
  const name = url.pathname.slice(1);
  url.pathname = "/postgres";
  const client = newClient(url.href);
  await client.connect();
  await client.query(`alter database ${name} with allow_connections ${accepted}`);
  if (!accepted)
    await client.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [name]);
  await client.end();
}

test("while the database is down every request is UNAVAILABLE, and the same request is stored once it is back", async () => {
  const requests: Sent[] = [
    { headers: { "x-request-id": "outage" }, body: canonicalBody(service.agent.id) },
    encodings.json(exportOf([exportedSpan()])),
    encodings.protobuf(exportOf([exportedSpan()])),
  ];
  // With look-ups of a moment ago, a cluster stores without its coordinator.
  await cachesExpired();
  await line.cut();
  for (const sent of requests) await unavailable(sent);
  await line.mend();
  const answers = await Promise.all(requests.map(sent => send(service, sent)));
  assert.deepEqual(
    answers.map(answer => answer.status),
    [201, 200, 200],
  );
});

test("a temporary failure while storing one of several traces fails the whole request", async () => {
  const flaky = await makeAgent(service.owner, { otlpServiceName: "flaky" });
  const { pool } = service.db;
  const raise = "'too many clients' using errcode = '53300'";
  const mend = await failStatements(service.db, flaky.id, { table: "traces", when: "before insert", raise });
  const [steady, failing] = [newTraceId(), newTraceId()];
  const request = {
    resourceSpans: [
      resourceSpans(serviceName, [exportedSpan({ traceId: steady })]),
      resourceSpans("flaky", [exportedSpan({ traceId: failing })]),
      resourceSpans("nobody", [exportedSpan()]),
    ],
  };
  await Promise.all([unavailable(encodings.json(request)), unavailable(encodings.protobuf(request))]);
  await mend();
  for (const sent of [encodings.json(request), encodings.protobuf(request)]) {
    assert.equal((await send(service, sent)).status, 200);
  }
  const { rows } = await pool.query(
    "select external_id, span_count from traces where external_id = any ($1) order by external_id = $2",
    [[steady, failing], failing],
  );
  assert.deepEqual(
    rows.map(row => [row.external_id, row.span_count]),
    [
      [steady, 1],
      [failing, 1],
    ],
  );
});

test("while the clock of the process is off nothing is stored, and it is not ready; afterwards both are as before", async t => {
  const request = { resourceSpans: [resourceSpans(serviceName, [exportedSpan({ traceId: newTraceId() })])] };
  const { now } = Date;
  const clock = t.mock.method(Date, "now", () => now() + 3_600_000);
  for (const sent of [encodings.json(request), encodings.protobuf(request)]) {
    const reply = await send(service, sent);
    assert.equal(reply.status, 503);
    assert.match(reply.bytes.toString(), /The clock of the service is 60 minutes ahead of the database's/);
  }
  const ready = await fetch(`${service.url}/readyz`);
  assert.deepEqual([ready.status, await ready.json()], [503, { status: "waiting", waitingFor: "clock" }]);
  clock.mock.restore();
  assert.equal((await send(service, encodings.json(request))).status, 200);
  assert.equal((await fetch(`${service.url}/readyz`)).status, 200);
});

test("a stock exporter retries during an outage and succeeds", async () => {
  const exporter = openExporter("protobuf", service);
  const spans = recordSpans(serviceName, { name: "root" });
  await cachesExpired();
  await line.cut();
  const told = service.logs.length;
  const exported = exportSpans(exporter, spans);
  await eventually(() => assert.match(service.logs.slice(told).join(""), /database is unavailable/));
  await line.mend();
  assert.equal(await exported, undefined);
  await exporter.shutdown();
});
