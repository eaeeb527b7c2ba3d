// Log records of GenAI events join the spans that they are about, whichever arrives first, and are evaluated with them.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import type { Agent } from "../../src/model/agent/agent.ts";
import { expireRecords } from "../../src/store/traces/records.ts";
import { recordedBody, recordings } from "../reading/conventions/recordings.ts";
import { makeAgent, makeTest } from "../support/app.ts";
import { newSpanId, newTraceId } from "../support/bodies.ts";
import { eventually } from "../support/eventually.ts";
import { exportSpans, openExporter } from "../support/exporters.ts";
import { columnsWith } from "../support/leftovers.ts";
import { sendEvents } from "../support/log-exporters.ts";
import { callSpan, logsOf, questionRecord, replyRecord } from "../support/log-records.ts";
import { fillList } from "../support/rows.ts";
import { json, jsonOf, proto, send, traceIdOf } from "../support/send.ts";
import type { TestService } from "../support/service.ts";
import { world } from "../support/world.ts";
import { resourceSpans } from "../wire/make-body.ts";

const limits = { debounceMs: 100, debounceCapMs: 1_000, traceSpansMax: 200_000, traceBytesMax: 268_435_456 };

const service = world({ debounceMs: 100, debounceCapMs: 1_000 });

async function makeReader(otlpServiceName: string) {
  const agent = await makeAgent(service.owner, { otlpServiceName });
  await service.client.patch(`/api/agents/${agent.id}`, { conventions: ["*"] }).expect(200);
  return agent;
}

const newIds = () => ({ traceId: newTraceId(), spanId: newSpanId() });

async function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<void> {
  assert.deepEqual(jsonOf(await service.send({ path, body, headers })), {});
}
const postLogs = (name: string, ...records: unknown[]) => post("/public/logs", logsOf(records, name));
const postSpans = (name: string, spans: unknown[], headers?: Record<string, string>) =>
  post("/public/traces", { resourceSpans: [resourceSpans(name, spans)] }, headers);

async function only(agent: Agent) {
  const { items } = await service.read(`/api/agents/${agent.id}/traces`);
  assert.equal(items.length, 1);
  return items[0];
}

const waiting = async (agent: Agent) => {
  const { rows } = await service.db.pool.query(
    "select sum(length(record_keys) / 8)::int as records from waiting_records where agent_id = $1",
    [agent.id],
  );
  return rows[0].records ?? 0;
};

const runsOf = (traceId: string, states: string[]) =>
  eventually(async () => {
    const trace = await service.read(`/api/traces/${traceId}`);
    assert.deepEqual(
      trace.runs.map(run => run.state),
      states,
    );
    return trace;
  });

// Of the others, the spans have all that the log records have.
const names = [
  "42-contrib-openai-v2-legacy-logs-basic",
  "75-semantic-kernel-basic",
  "72-google-adk-latest-basic",
];

suite("recorded exports of spans and log records", () => {
  for (const name of names) {
    const expected = new Map(recordings).get(name)!;
    for (const first of ["traces", "logs"] as const) {
      test(`${name}, ${first} first: input, reply and user are those of the whole`, async () => {
        const isFirstRun = first === "traces";
        const account = await service.signUp();
        const to = { url: service.url, key: await keyOf(account) };
        const agent = await makeAgent(account, { otlpServiceName: expected.service });
        await account.client.patch(`/api/agents/${agent.id}`, { conventions: ["*"] }).expect(200);
        const encoding = isFirstRun ? ("json" as const) : ("protobuf" as const);
        const type = isFirstRun ? json : proto;
        for (const signal of [first, isFirstRun ? ("logs" as const) : ("traces" as const)]) {
          const body = recordedBody(name, encoding, signal);
          const answer = await send(to, { path: `/public/${signal}`, body, type });
          assert.equal(answer.status, 200);
          assert.ok(answer.bytes.length <= 2, answer.bytes.toString());
        }
        const { items } = await account.client.read(`/api/agents/${agent.id}/traces`);
        assert.deepEqual([items[0]!.userInput], expected["user input"]);
        assert.deepEqual([items[0]!.responseText], expected.reply);
        assert.equal(items[0]!.revision > 1, true);
        const trace = await account.client.read(`/api/traces/${items[0]!.id}`);
        assert.equal(trace.userId, expected.user);
        assert.deepEqual(
          trace.toolCalls.map(({ name, arguments: args, result }) => [
            name,
            args,
            (result as { result?: unknown }).result ?? result,
          ]),
          [[expected["tool call"]!.name, expected["tool call"]!.args, expected["tool result"]]],
        );
      });
    }
  }
});

async function keyOf(account: Awaited<ReturnType<TestService["signUp"]>>): Promise<string> {
  const { body } = await account.client
    .post(`/api/projects/${account.projectId}/keys`, { name: "k", access: "full", neverExpires: true })
    .expect(201);
  return body.key;
}

suite("log records", () => {
  test("count once however often they are sent, and raise the revision only when they add something", async () => {
    const agent = await makeReader("once");
    const ids = newIds();
    await postLogs("once", questionRecord(ids, "Where is my parcel?"));
    await postLogs("once", questionRecord(ids, "Where is my parcel?"));
    await postSpans("once", [callSpan(ids)]);
    const first = (await only(agent))!;
    assert.deepEqual([first!.userInput, first!.revision], ["Where is my parcel?", 2]);
    await postLogs("once", questionRecord(ids, "Where is my parcel?"));
    assert.equal((await only(agent))!.revision, 2);
    await postLogs("once", questionRecord(ids, "Where is my parcel?"), replyRecord(ids, "In Lyon."));
    const trace = await service.read(`/api/traces/${first!.id}`);
    assert.deepEqual([trace.revision, trace.responseText], [3, "In Lyon."]);
    assert.deepEqual(
      trace.spans[0]!.log_records!.map(one => [one.event_name, one.time_unix_nano]),
      [
        ["gen_ai.user.message", "1000"],
        ["gen_ai.choice", "2000"],
      ],
    );
    assert.deepEqual(trace.spans[0]!.events, []);
    assert.equal(await waiting(agent), 0);
  });

  for (const protocol of ["protobuf", "json"] as const) {
    test(`of the stock exporter join the span that it sends afterwards (${protocol}, gzip)`, async () => {
      const serviceName = `stock-${protocol}`;
      const agent = await makeReader(serviceName);
      const to = { url: service.url, key: service.key, serviceName };
      const memory = new InMemorySpanExporter();
      const spanProcessors = [new SimpleSpanProcessor({ exporter: memory })];
      const resource = resourceFromAttributes({ "service.name": serviceName });
      const span = new TracerProvider({ resource, spanProcessors }).getTracer("t").startSpan("chat m");
      await sendEvents(protocol, to, span, [
        { eventName: "gen_ai.user.message", body: { content: "Where is my parcel?" } },
        { eventName: "gen_ai.choice", body: { message: { role: "assistant", content: "In Lyon." } } },
      ]);
      assert.equal(await waiting(agent), 2);
      span.end();
      const exporter = openExporter(protocol, service);
      assert.equal(await exportSpans(exporter, memory.getFinishedSpans()), undefined);
      await exporter.shutdown();
      const { userInput, responseText } = (await only(agent))!;
      assert.deepEqual([userInput, responseText], ["Where is my parcel?", "In Lyon."]);
    });
  }

  test("join a trace that an x-request-id names, by its OTLP trace id", async () => {
    const agent = await makeReader("named");
    const [one, other] = [newIds(), newIds()];
    await postLogs("named", replyRecord(other, "Second."));
    await postSpans("named", [callSpan(one)], { "x-request-id": "turn-1" });
    const later = { ...callSpan(other), startTimeUnixNano: "4000", endTimeUnixNano: "5000" };
    await postSpans("named", [later], { "x-request-id": "turn-1" });
    await postLogs("named", questionRecord(one, "First?"));
    const row = (await only(agent))!;
    assert.deepEqual([row!.externalId, row!.userInput, row!.responseText], ["turn-1", "First?", "Second."]);
    assert.equal(await waiting(agent), 0);
  });

  test("wait for a span that a later batch brings, and are dropped with a canonical replacement", async () => {
    const agent = await makeReader("later");
    const [first, second] = [newIds(), newIds()];
    second.traceId = first.traceId;
    await postSpans("later", [callSpan(first)]);
    await postLogs("later", questionRecord(second, "Who is there?"));
    assert.equal(await waiting(agent), 1);
    await postSpans("later", [callSpan(second)]);
    assert.equal(await waiting(agent), 0);
    const row = (await only(agent))!;
    assert.equal(row!.userInput, "Who is there?");
    const body = { platformId: agent.id, spans: [{ span_id: second.spanId, name: "whole" }] };
    const answer = await service.send({ body, headers: { "x-request-id": first.traceId } });
    assert.equal(traceIdOf(answer), row!.id);
    const trace = await service.read(`/api/traces/${row!.id}`);
    assert.deepEqual([trace.userInput, trace.spans[0]!.log_records], [null, undefined]);
  });

  test("that bring what an evaluated trace lacked schedule one further run, and others none", async () => {
    const agent = await makeReader("judged");
    const assertions = [{ type: "response_regex", pattern: "Lyon" }];
    await makeTest(service.owner, agent.id, { passiveBehavior: "always_run", assertions });
    const ids = newIds();
    await postSpans("judged", [callSpan(ids)]);
    const { id } = (await only(agent))!;
    await runsOf(id, ["completed"]);
    await postLogs("judged", replyRecord(ids, "In Lyon."));
    const trace = await runsOf(id, ["completed", "completed"]);
    assert.deepEqual([trace.runs[0]!.verdict, trace.runs[0]!.revision], ["passed", 2]);
    // Another reply, the same again, and another system prompt bring nothing new to the trace.
    await postLogs("judged", replyRecord(ids, "In Lyon."), replyRecord(ids, "In Lyon, I said.", "2001"));
    assert.equal((await only(agent))!.revision, 3);
    await runsOf(id, ["completed", "completed"]);
    const { rows } = await service.db.pool.query(
      "select id from runs where trace_id = $1 union all select id from queue where trace_id = $1",
      [id],
    );
    assert.equal(rows.length, 2);
    await postLogs("judged", questionRecord(ids, "Where is it?"));
    await runsOf(id, ["completed", "completed", "completed"]);
  });

  test("of agents without conventions, of other events and without a span are dropped and counted", async () => {
    const agent = await makeReader("counted");
    await makeAgent(service.owner, { otlpServiceName: "uncounted", conventions: [] });
    const ids = newIds();
    const bad = { ...questionRecord(ids, "Hello"), spanId: "AAAAAAAAAAA=" };
    const log = { ...questionRecord(ids, "Hello"), eventName: "" };
    const outside = { ...questionRecord(ids, "Hello"), traceId: "", spanId: "" };
    const empty = questionRecord(ids, "");
    const body = logsOf([questionRecord(ids, "Hello"), bad, log, outside, empty], "counted");
    const answer = jsonOf(await service.send({ path: "/public/logs", body }));
    assert.equal(answer.partialSuccess.rejectedLogRecords, 1);
    assert.match(answer.partialSuccess.errorMessage, /^OTLP_ID_INVALID: 1 log record\./);
    await postLogs("uncounted", questionRecord(newIds(), "Hello"));
    const { expired } = await expireRecords(service.db, limits, 0);
    assert.deepEqual(
      expired.filter(one => one.agentId === agent.id).map(one => [one.records, one.serviceName]),
      [[1, "counted"]],
    );
    const counted = await eventually(async () => {
      const { items } = await service.read(`/api/projects/${service.projectId}/ingestion`);
      const found = ["counted", "uncounted"].map(name => items.filter(one => one.serviceName === name));
      assert.ok(found.every(({ length }) => length > 0));
      return found.map(([first]) => first!);
    });
    assert.deepEqual(
      counted.map(({ code, records, dropped, reasons }) => [code, records, dropped, reasons]),
      [
        ["PARTIAL", 1, [{ reason: "no_content", records: 3 }], [{ code: "OTLP_ID_INVALID", traces: 1 }]],
        ["OK", 0, [{ reason: "no_conventions", records: 1 }], []],
      ],
    );
  });

  for (const first of ["spans", "records"] as const) {
    test(`of agents that a key does not list are kept (${first} first)`, async () => {
      const account = await service.signUp();
      const to = { url: service.url, key: await keyOf(account) };
      await fillList(service.db, (await makeAgent(account, {})).id);
      const silent = await makeAgent(account, { otlpServiceName: "silent", conventions: [] });
      const agent = await makeAgent(account, { otlpServiceName: `late-${first}` });
      await account.client.patch(`/api/agents/${agent.id}`, { conventions: ["*"] }).expect(200);
      const ids = newIds();
      const logsBy = (name: string) => logsOf([questionRecord(ids, "Where?")], name).resourceLogs;
      const resourceLogs = [...logsBy("silent"), ...logsBy(`late-${first}`)];
      const spans = { resourceSpans: [resourceSpans(`late-${first}`, [callSpan(ids)])] };
      const requests = [
        { path: "/public/traces", body: spans },
        { path: "/public/logs", body: { resourceLogs } },
      ];
      if (first === "records") requests.reverse();
      for (const request of requests) assert.deepEqual(jsonOf(await send(to, request)), {});
      const { items } = await account.client.read(`/api/agents/${agent.id}/traces`);
      assert.equal(items[0]!.userInput, "Where?");
      assert.deepEqual([await waiting(silent), await waiting(agent)], [0, 0]);
    });
  }

  test("go with their trace and their agent, those that still wait too", async () => {
    const agent = await makeReader("gone");
    const secret = "quaternion parcel";
    const [joined, absent, other] = [newIds(), newIds(), newIds()];
    absent.traceId = joined.traceId;
    await postSpans("gone", [callSpan(joined)], { "x-request-id": "turn-9" });
    await postLogs("gone", questionRecord(joined, secret), questionRecord(absent, secret));
    assert.equal(await waiting(agent), 1);
    const { id } = (await only(agent))!;
    await service.client.delete(`/api/traces/${id}`).expect(204);
    assert.deepEqual(await columnsWith(service.databaseUrl, secret), []);
    assert.deepEqual(await columnsWith(service.databaseUrl, joined.traceId), []);
    await postLogs("gone", questionRecord(other, secret));
    assert.deepEqual(await columnsWith(service.databaseUrl, secret), ["waiting_records.records"]);
    await service.client.delete(`/api/agents/${agent.id}`).expect(204);
    assert.deepEqual(await columnsWith(service.databaseUrl, secret), []);
  });
});
