// Log records that arrive after the evaluation of their trace: what counts as missing then, and records that it has no room for.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { IngestionMinute } from "../../src/http/ingestion/schemas.ts";
import type { Agent } from "../../src/model/agent/agent.ts";
import { makeAgent, makeTest } from "../support/app.ts";
import { newSpanId, newTraceId } from "../support/bodies.ts";
import { eventually } from "../support/eventually.ts";
import { callSpan, logsOf, questionRecord, replyRecord } from "../support/log-records.ts";
import { jsonOf, refused, send } from "../support/send.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { resourceSpans } from "../wire/make-body.ts";

let service: TestService;
let agent: Agent;
before(async () => {
  const bounds = {
    requestSpansMax: 100,
    requestTracesMax: 50,
    requestElementsMax: 100_000,
    nestingMax: 200,
    bodyBytesMax: 1_000_000,
    traceSpansMax: 3,
    traceBytesMax: 1_000_000,
  };
  service = await startTestService({ config: { debounceMs: 100, debounceCapMs: 1_000, bounds } });
  agent = await makeAgent(service.owner, { otlpServiceName: "late" });
  await service.client.patch(`/api/agents/${agent.id}`, { conventions: ["*"] }).expect(200);
  const assertions = [{ type: "response_regex", pattern: "Lyon" }];
  await makeTest(service.owner, agent.id, { passiveBehavior: "always_run", assertions });
});
after(() => service.stop());

const newIds = () => ({ traceId: newTraceId(), spanId: newSpanId() });
const sendSpans = async (...spans: object[]) =>
  jsonOf(
    await send(service, { path: "/public/traces", body: { resourceSpans: [resourceSpans("late", spans)] } }),
  );
const sendLogs = (...records: unknown[]) =>
  send(service, { path: "/public/logs", body: logsOf(records, "late") });

const question = {
  "gen_ai.input.messages": '[{"role":"user","parts":[{"type":"text","content":"Where?"}]}]',
};
const reply = { "gen_ai.response.text": "In Lyon." };

/** The trace once its only run ended, with its columns up to date. */
async function evaluated(externalId: string): Promise<string> {
  return eventually(async () => {
    const { rows } = await service.db.pool.query(
      `select t.id from traces t join runs r on r.agent_id = t.agent_id and r.trace_id = t.id
        where t.external_id = $1 and r.state = 'completed' and t.derived_revision = t.revision`,
      [externalId],
    );
    assert.equal(rows.length, 1);
    return rows[0].id;
  });
}

async function runsOf(traceId: string): Promise<number> {
  const { rows } = await service.db.pool.query(
    "select id from runs where trace_id = $1 union all select id from queue where trace_id = $1",
    [traceId],
  );
  return rows.length;
}

// Large traces are read on a thread.
for (const size of [10, 300_000]) {
  test(`records that bring what a span of ${size} B brought when it was sent again after the evaluation schedule no run`, async () => {
    const ids = newIds();
    const more = { ...question, filling: "x".repeat(size) };
    await sendSpans(callSpan(ids, more));
    const id = await evaluated(ids.traceId);
    await sendSpans(callSpan(ids, { ...more, ...reply }));
    assert.deepEqual(jsonOf(await sendLogs(replyRecord(ids, "In Lyon, I said."))), {});
    assert.equal(await runsOf(id), 1);
  });
}

test("records that bring what a span lost when it was sent again after the evaluation schedule a run", async () => {
  const ids = newIds();
  await sendSpans(callSpan(ids, { ...question, ...reply }));
  const id = await evaluated(ids.traceId);
  await sendSpans(callSpan(ids, question));
  assert.deepEqual(jsonOf(await sendLogs(replyRecord(ids, "In Lyon, I said."))), {});
  assert.equal(await runsOf(id), 2);
});

test("records for which a trace has no room are rejected, or counted as dropped where they waited for it", async () => {
  const [ids, later] = [newIds(), newIds()];
  const records = (about: typeof ids) =>
    ["1", "2", "3", "4"].map(at => questionRecord(about, `Question ${at}`, at));
  await sendSpans(callSpan(ids, question));
  refused(await sendLogs(...records(ids)), 413, "PAYLOAD_TOO_LARGE");
  const { partialSuccess } = jsonOf(await sendLogs(...records(ids), questionRecord(later, "Why?")));
  assert.equal(partialSuccess.rejectedLogRecords, 4);
  assert.match(partialSuccess.errorMessage, /^PAYLOAD_TOO_LARGE: 4 log records\..* End the trace and /);
  assert.deepEqual(jsonOf(await sendLogs(...records(later).slice(1))), {});
  await sendSpans(callSpan(later, question));
  await eventually(async () => {
    const body = await service.client.read(`/api/projects/${service.projectId}/ingestion`);
    const of = (code: string) => body.items.filter(one => one.code === code && one.serviceName === "late");
    const sum = <T>(items: T[], read: (item: T) => number) =>
      items.reduce((total, item) => total + read(item), 0);
    const dropped = (item: IngestionMinute) =>
      sum(
        item.dropped.filter(one => one.reason === "no_room"),
        one => one.records,
      );
    assert.equal(sum(of("OK"), dropped), 3);
    assert.equal(
      sum(of("PARTIAL"), item => item.records),
      1,
    );
    assert.deepEqual(of("PARTIAL")[0]!.reasons, [{ code: "PAYLOAD_TOO_LARGE", traces: 4 }]);
  });
});
