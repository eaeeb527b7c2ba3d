// Content that is forgotten: kept until its evaluation has ended and the time has passed, then gone from every place.

import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import type { TraceDetail } from "../../src/http/traces/schemas.ts";
import { forgetTraces } from "../../src/load/forget.ts";
import { HeapSemaphore } from "../../src/load/heap-semaphore.ts";
import type { SemanticActual } from "../../src/model/run/run.ts";
import { placeOf } from "../../src/store/cluster/routing.ts";
import { claimDue } from "../../src/store/content-deadlines.ts";
import { sendJson, startAgentServer } from "../support/agent-server.ts";
import { makeAgent, makeTest } from "../support/app.ts";
import { exportOf, newSpanId, newTraceId } from "../support/bodies.ts";
import { eventually } from "../support/eventually.ts";
import { failStatements } from "../support/failing-trigger.ts";
import { bodyWith, dueOf, forgettingOf, pass as passIn } from "../support/forgetting.ts";
import { startJudgeServer } from "../support/judge-server.ts";
import { columnsWith } from "../support/leftovers.ts";
import { callSpan, logsOf, questionRecord, replyRecord } from "../support/log-records.ts";
import { jsonOf, send, traceIdOf } from "../support/send.ts";
import { startTestService, type TestService } from "../support/service.ts";

let service: TestService;
let forgetting: ReturnType<typeof forgettingOf>;
before(async () => {
  service = await startTestService({ config: { debounceMs: 100, debounceCapMs: 1_000 } });
  forgetting = forgettingOf(service);
  const judge = await startJudgeServer();
  service.closing.push(() => judge.close());
  const { url } = judge.connection({ provider: "openai_compatible" });
  await service.client
    .put(`/api/projects/${service.projectId}/judge`, {
      provider: "openai_compatible",
      url,
      model: "local-model",
      apiKey: "key",
    })
    .expect(200);
});
after(async () => {
  const unlike = `select from trace_batches b left join traces t on t.agent_id = b.agent_id and t.id = b.trace_id
    where t.id is null`;
  assert.equal((await service.db.pool.query(unlike)).rowCount, 0, "every batch has the agent of its trace");
  await service.stop();
});

const read: typeof forgetting.read = path => forgetting.read(path);
const forgetful: typeof forgetting.forgetful = more => forgetting.forgetful(more);
const receive: typeof forgetting.receive = (agentId, text) => forgetting.receive(agentId, text);
const judged: typeof forgetting.judged = traceId => forgetting.judged(traceId);
const stored: typeof forgetting.stored = traceId => forgetting.stored(traceId);
const forgotten: typeof forgetting.forgotten = traceId => forgetting.forgotten(traceId!);
const pass = (agentId: string, seconds: number) => passIn(service.db, agentId, seconds);
const otlpText = (key: string, stringValue: string) => ({ key, value: { stringValue } });

const assertions = [
  { type: "response_regex", pattern: "arrives" },
  { type: "semantic", criteria: ["Says where it is", "Says when it arrives"] },
  { type: "json_match", target_node: "answer", field: "app.note", expected_value: "other" },
  { type: "json_schema", target_node: "answer", field: "app.note", schema: { enum: ["other"] } },
  { type: "tool_call", expected_name: "lookup", expected_arguments: { id: "other" } },
  { type: "token_limit", max_input: 2000 },
  { type: "http_status", expected_status: 200 },
  { type: "node_call", expected_name: "answer" },
];

const verdictOf = (trace: TraceDetail) => {
  const run = trace.runs[0]!;
  const checks = run.results.flatMap(result =>
    result.checks.map(check => [
      check.outcome,
      check.reasonCode,
      check.score,
      check.evidence.map(({ spanId, attribute }) => [spanId, attribute]),
      (check.actual as SemanticActual | null)?.criteria?.map(({ criterion, verdict, quotes }) => [
        criterion,
        verdict,
        quotes?.map(({ as, from, spanId, attribute }) => [as, from, spanId, attribute]),
      ]),
    ]),
  );
  return [run.verdict, run.score, run.counts, run.routing, run.results.map(({ outcome }) => outcome), checks];
};

const figuresOf = (trace: TraceDetail) => [
  ...[trace.tokens, trace.costUsd, trace.durationMs, trace.httpStatus, trace.failed, trace.spanCount],
  ...[trace.model, trace.conversationId, trace.userId],
];

suite("an agent whose content is forgotten", () => {
  test("keeps verdicts, counts, places, tokens and cost of a trace, and no text of it in any column", async () => {
    const agent = await forgetful();
    const canary = "canary-4711";
    await makeTest(service.owner, agent.id, { passiveBehavior: "always_run", assertions });
    const relevant = await makeTest(service.owner, agent.id, {
      passiveBehavior: "run_when_relevant",
      scenario: "The user asks for a parcel",
    });
    const id = await receive(agent.id, canary);
    const before = await judged(id);
    const runId = before.runs[0]!.id;
    const check = before.runs[0]!.results!.find(result => result.testId !== relevant.id)!.checks.find(
      ({ type }) => type === "semantic",
    );
    const testId = before.runs[0]!.results.find(result => result.testId !== relevant.id)!.testId;
    const label = { testId, checkId: check!.id, answer: "pass", note: "" };
    await service.client.put(`/api/runs/${runId}/labels`, label).expect(200);
    assert.ok((await columnsWith(service.databaseUrl, canary)).length >= 6);

    await pass(agent.id, 3_500);
    await eventually(async () => {
      const { rows } = await service.db.pool.query(
        "select check_at > now() as later from content_deadlines where subject_id = $1",
        [id],
      );
      assert.deepEqual(rows, [{ later: true }]);
    });
    assert.equal(await stored(id), null);

    await pass(agent.id, 200);
    const trace = await forgotten(id);
    assert.deepEqual(await columnsWith(service.databaseUrl, canary), []);
    assert.deepEqual(await columnsWith(service.databaseUrl, "As told."), []);
    assert.deepEqual(verdictOf(trace), verdictOf(before));
    assert.deepEqual(figuresOf(trace), figuresOf(before));
    assert.ok(Math.abs(Date.parse(trace.contentForgottenAt!) - Date.now()) < 60_000);
    assert.equal(trace.revision, before.revision);
    assert.deepEqual(trace.notices, ["content_not_stored"]);
    assert.deepEqual([trace.userInput, trace.responseText, trace.metadata], [null, null, null]);
    const row = (await read(`/api/agents/${agent.id}/traces`)).items[0]!;
    assert.deepEqual(figuresOf({ ...before, ...row }), figuresOf(before));
    assert.equal(row.contentForgottenAt, trace.contentForgottenAt);
    const { items: calls } = await read(`/api/runs/${runId}/calls`);
    assert.ok(calls.length > 0);
    for (const call of calls) {
      assert.deepEqual([call.instructions, call.material, call.answer], ["", "", null]);
      assert.ok(call.inputTokens > 0);
    }
    const { items: labels } = await read(`/api/runs/${runId}/labels`);
    assert.deepEqual(
      labels.map(({ answer, repeatable }) => [answer, repeatable]),
      [["pass", false]],
    );

    const { body: again } = await service.client
      .post(`/api/agents/${agent.id}/judge-again`, { traceIds: [id] })
      .expect(200);
    assert.deepEqual(
      again.refused.map(({ reason }) => reason),
      ["content_not_stored"],
    );

    // Sent again as a whole: its structure is stored, it stays forgotten, and nothing is evaluated.
    const headers = { "x-request-id": trace.externalId };
    const traceId = traceIdOf(
      await send(service, { body: bodyWith(agent.id, "canary-4712", "search"), headers }),
    );
    assert.equal(traceId, id);
    assert.deepEqual(await columnsWith(service.databaseUrl, "canary-4712"), []);
    const replaced = await read(`/api/traces/${id}`);
    assert.equal(replaced.revision, before.revision + 1);
    assert.equal(replaced.runs.length, 1);
    assert.equal(await stored(id), "forgotten");

    await service.client.delete(`/api/traces/${id}`).expect(204);
  });

  test("forgets merged batches, shared resources and log records of an OTLP trace, and adds the structure of later ones", async () => {
    const agent = await forgetful({ conventions: ["*"] });
    const canary = "canary-5822";
    const about = { traceId: newTraceId(), spanId: newSpanId() };
    const others = Array.from({ length: 3 }, newTraceId);
    const logs = logsOf([questionRecord(about, canary), replyRecord(about, canary)], agent.otlpServiceName);
    await jsonOf(await send(service, { path: "/public/logs", body: logs }));
    const first = callSpan(about, {
      "llm.token_count.prompt": "30",
      "openinference.span.kind": "LLM",
      "app.note": canary,
    });
    const shared = exportOf(
      [first, ...others.map(traceId => callSpan({ traceId, spanId: newSpanId() }))],
      agent.otlpServiceName,
    );
    shared.resourceSpans[0]!.resource.attributes.push(otlpText("host.name", canary.repeat(400)));
    await jsonOf(await send(service, { body: shared }));
    const second = callSpan(
      { ...about, spanId: newSpanId() },
      { "app.note": canary, "gen_ai.usage.input_tokens": "7" },
    );
    await jsonOf(await send(service, { body: exportOf([second], agent.otlpServiceName) }));
    const row = (await read(`/api/agents/${agent.id}/traces?limit=10`)).items.find(
      one => one.externalId === about.traceId,
    )!;
    assert.equal(row.userInput, canary);
    await pass(agent.id, 3_700);
    const trace = await forgotten(row.id);
    for (const { id } of (await read(`/api/agents/${agent.id}/traces?limit=10`)).items) await forgotten(id);
    assert.deepEqual(await columnsWith(service.databaseUrl, canary), []);
    assert.deepEqual([trace.tokens.input, trace.spans.length], [row.tokens.input, 2]);

    const later = { ...about, spanId: newSpanId() };
    const third = callSpan(later, { "app.note": canary, "gen_ai.usage.input_tokens": "5" });
    await jsonOf(await send(service, { body: exportOf([third], agent.otlpServiceName) }));
    const lateLogs = logsOf([replyRecord(later, canary)], agent.otlpServiceName);
    await jsonOf(await send(service, { path: "/public/logs", body: lateLogs }));
    const grown = await read(`/api/traces/${row.id}`);
    assert.equal(grown.spans.length, 3);
    assert.equal(await stored(row.id), "forgotten");
    await service.client.patch(`/api/agents/${agent.id}`, { conventions: [] }).expect(200);
    const listed = (await read(`/api/agents/${agent.id}/traces?limit=10`)).items.find(
      one => one.id === row.id,
    )!;
    assert.deepEqual([listed.tokens.input, listed.userInput], [row.tokens.input, null]);
    assert.deepEqual(await columnsWith(service.databaseUrl, canary), []);
  });

  test("waits for an open evaluation, then counts from its end; traces stored before the setting stay", async () => {
    const kept = await makeAgent(service.owner);
    const old = await receive(kept.id, "canary-old");
    const agent = await forgetful();
    await makeTest(service.owner, agent.id, {
      passiveBehavior: "always_run",
      assertions: assertions.slice(0, 1),
    });
    const id = await receive(agent.id, "canary-open");
    await judged(id);
    // As a run that waits for the judge.
    await (await placeOf(service.db, agent.id)).pool.query(
      `insert into queue (id, trace_id, agent_id, state, due_at, lease_until)
        select gen_random_uuid(), id, agent_id, 'running', now(), now() + interval '1 day' from traces where id = $1`,
      [id],
    );
    await pass(agent.id, 7_200);
    await pass(kept.id, 7_200);
    const again = async () => {
      const { rows } = await (await placeOf(service.db, agent.id)).pool.query(
        "select extract(epoch from check_at - now()) as s from content_deadlines where subject_id = $1",
        [id],
      );
      return Number(rows[0].s);
    };
    await eventually(async () => assert.ok((await again()) > 3_500));
    const place = await placeOf(service.db, agent.id);
    await place.pool.query("delete from queue where trace_id = $1", [id]);
    await place.pool.query("update runs set finished_at = now() - interval '30 min' where trace_id = $1", [
      id,
    ]);
    await (await placeOf(service.db, agent.id)).pool.query(
      "update content_deadlines set check_at = now() where subject_id = $1",
      [id],
    );
    await eventually(async () => assert.ok(Math.abs((await again()) - 1_800) < 60));
    assert.equal(await stored(id), null);
    await pass(agent.id, 1_900);
    await forgotten(id);
    assert.equal(await stored(old), null);
    await service.client.delete(`/api/agents/${kept.id}`).expect(204);
  });

  test("rolls back as a whole where it breaks off, and is done once by one of two processes", async () => {
    const agent = await forgetful();
    await makeTest(service.owner, agent.id, {
      passiveBehavior: "always_run",
      assertions: assertions.slice(0, 2),
    });
    const canary = "canary-broken";
    const id = await receive(agent.id, canary);
    await judged(id);
    const places = await columnsWith(service.databaseUrl, canary);
    const raise = "'broken off at %', old.id";
    const mend = await failStatements(service.db, agent.id, {
      ...{ table: "judge_calls", when: "before update", raise },
    });
    await pass(agent.id, 3_700);
    await eventually(async () => assert.match(service.logs.join(""), /content was not forgotten/));
    assert.deepEqual(await columnsWith(service.databaseUrl, canary), places);
    await mend();
    assert.ok(!service.logs.some(line => line.includes("broken off at")));

    // The lease of the process that failed still holds; two others have claimed it since.
    const due = await dueOf(service.db, agent.id, [id]);
    const both = await Promise.all([1, 2].map(() => forgetTraces(service.db, new HeapSemaphore(), due)));
    assert.deepEqual(both.map(({ traces }) => traces.length).sort(), [0, 1]);
    assert.deepEqual(await columnsWith(service.databaseUrl, canary), []);
    assert.deepEqual(await claimDue(service.db, { rowsMax: 10, leaseMs: 1_000 }), undefined);
  });

  test("forgets the replies, results and calls of a manual run after it has ended", async () => {
    const said = "reply-6060";
    const server = await startAgentServer(async (_request, response) => sendJson(response, { reply: said }));
    try {
      const agent = await forgetful();
      const connection = {
        type: "http_api",
        url: server.url,
        bodyTemplate: '{"message":"{{input}}"}',
        reply: { kind: "json", pointer: "/reply" },
        waitMs: 0,
      };
      await service.client.put(`/api/agents/${agent.id}/connection`, connection).expect(200);
      const { id } = await makeTest(service.owner, agent.id, {
        passiveBehavior: "manual_only",
        turns: [{ input: "One" }, { input: "Two" }],
        assertions: [
          { type: "response_regex", pattern: "reply-\\d+" },
          { type: "semantic", criteria: ["Replies"] },
        ],
      });
      const launched = async () => {
        const made = await service.client
          .post(`/api/agents/${agent.id}/launches`, { testIds: [id] })
          .expect(201);
        const ended = await eventually(async () => {
          const launch = await read(`/api/launches/${made.body.id}`);
          assert.notEqual(launch.finishedAt, null);
          return launch;
        });
        return read(`/api/runs/${ended.runs[0]!.id}`);
      };
      const before = await launched();
      assert.equal(before.verdict, "passed");
      assert.equal(before.turns![0]!.text, said);
      await pass(agent.id, 3_700);
      for (const { traceId } of before.turns!) await forgotten(traceId!);
      const run = await read(`/api/runs/${before.id}`);
      assert.deepEqual([run.verdict, run.counts], [before.verdict, before.counts]);
      assert.deepEqual(
        run.turns!.map(turn => [turn.input, turn.text, turn.content]),
        [
          ["One", null, "forgotten"],
          ["Two", null, "forgotten"],
        ],
      );
      assert.deepEqual(await columnsWith(service.databaseUrl, said), []);

      // As if the process had died between the reply and its trace.
      const broken = await launched();
      const { pool } = await placeOf(service.db, agent.id);
      await pool.query("update run_turns set trace_id = null where run_id = $1", [broken.id]);
      await pool.query("update runs set trace_id = null where id = $1", [broken.id]);
      for (const { traceId } of broken.turns!)
        await service.client.delete(`/api/traces/${traceId}`).expect(204);
      assert.notDeepEqual(await columnsWith(service.databaseUrl, said), []);
      await pass(agent.id, 3_700);
      await eventually(async () => {
        assert.deepEqual(
          (await pool.query("select from content_deadlines where agent_id = $1", [agent.id])).rows,
          [],
        );
      });
      assert.deepEqual(await columnsWith(service.databaseUrl, said), []);
    } finally {
      await server.close();
    }
  });
});
