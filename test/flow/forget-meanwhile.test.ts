// What happens to a trace while, and after, its content is forgotten: other processes, later batches, changed settings.

import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import pino from "pino";
import { forget } from "../../src/jobs/forget.ts";
import { startJob } from "../../src/jobs/job.ts";
import { forgetTraces } from "../../src/load/forget.ts";
import { HeapSemaphore } from "../../src/load/heap-semaphore.ts";
import type { Agent } from "../../src/model/agent/agent.ts";
import { placeOf } from "../../src/store/cluster/routing.ts";
import { claimDue } from "../../src/store/content-deadlines.ts";
import type { Vault } from "../../src/store/secrets/vault.ts";
import { begun } from "../store/locks.ts";
import { makeTest } from "../support/app.ts";
import { exportOf, newSpanId, newTraceId } from "../support/bodies.ts";
import { eventually } from "../support/eventually.ts";
import { dueOf, forgettingOf, pass } from "../support/forgetting.ts";
import { columnsWith } from "../support/leftovers.ts";
import { callSpan } from "../support/log-records.ts";
import { openFresh } from "../support/postgres.ts";
import { canonicalTrace, makePrivateProject } from "../support/private-project.ts";
import { jsonOf, send, traceIdOf } from "../support/send.ts";
import { startTestService, type TestService } from "../support/service.ts";

let service: TestService;
let forgetting: ReturnType<typeof forgettingOf>;
before(async () => {
  service = await startTestService({ config: { debounceMs: 100, debounceCapMs: 1_000 } });
  forgetting = forgettingOf(service);
});
after(() => service.stop());

const noVault = { open: () => undefined } as unknown as Vault;
const silent = pino({ level: "silent" });
const regex = [{ type: "response_regex", pattern: "arrives" }];

async function otlp(agent: Agent, spans: object[]): Promise<void> {
  await jsonOf(await send(service, { body: exportOf(spans, agent.otlpServiceName) }));
}

async function traceOf(agentId: string, externalId: string) {
  const { items } = await forgetting.read(`/api/agents/${agentId}/traces?externalId=${externalId}`);
  return items[0]!;
}

suite("while content is forgotten", () => {
  test("backtests and dry runs leave the trace out and say so", async () => {
    const agent = await forgetting.forgetful();
    const test = await makeTest(service.owner, agent.id, {
      passiveBehavior: "always_run",
      assertions: regex,
    });
    const [gone, kept] = [
      await forgetting.receive(agent.id, "canary-gone"),
      await forgetting.receive(agent.id, "canary-kept"),
    ];
    await forgetting.judged(gone);
    await forgetTraces(service.db, new HeapSemaphore(), await dueOf(service.db, agent.id, [gone]));
    assert.equal(await forgetting.stored(gone), null, "it is not due yet");
    await (await placeOf(service.db, agent.id)).pool.query(
      "update runs set finished_at = finished_at - interval '2 hours' where trace_id = $1",
      [gone],
    );
    await forgetTraces(service.db, new HeapSemaphore(), await dueOf(service.db, agent.id, [gone]));
    const before = await forgetting.forgotten(gone);

    const { body } = await service.client
      .post(`/api/agents/${agent.id}/backtests`, { testId: test.id })
      .expect(201);
    await eventually(async () =>
      assert.equal((await forgetting.read(`/api/backtests/${body.id}`)).state, "completed"),
    );
    const { items } = await forgetting.read(`/api/backtests/${body.id}/results`);
    const told = new Map(items.map(item => [item.traceId, item]));
    assert.equal(told.get(kept)?.after, "passed");
    assert.deepEqual(
      [told.get(gone)?.after, told.get(gone)?.reason],
      [null, "The content of the trace was not stored, or has been forgotten."],
    );

    const { name, scenario, turns, assertions } = await forgetting.read(`/api/tests/${test.id}`);
    const draft = { name, scenario, turns, assertions, passiveBehavior: "always_run" };
    const { body: tried } = await service.client
      .post(`/api/agents/${agent.id}/tests/dry-run`, { test: draft, traceId: gone })
      .expect(200);
    assert.deepEqual(
      tried.result.checks.map(({ outcome, reasonCode }) => [outcome, reasonCode]),
      [["missing_instrumentation", "content_not_stored"]],
    );
    const after = await forgetting.read(`/api/traces/${gone}`);
    assert.deepEqual(after.runs, before.runs, "its verdict stays");
  });

  test("a batch that is merged after the trace was read is not lost, and is forgotten later with the rest", async () => {
    const agent = await forgetting.forgetful();
    const about = { traceId: newTraceId(), spanId: newSpanId() };
    await otlp(agent, [callSpan(about, { "app.note": "canary-first" })]);
    const { id } = await traceOf(agent.id, about.traceId);
    await (await placeOf(service.db, agent.id)).pool.query(
      "update traces set updated_at = updated_at - interval '2 hours' where id = $1",
      [id],
    );
    // Between reading and locking, as seen by the job: it waits here for the lock of its first trace.
    const held = await begun(await placeOf(service.db, agent.id));
    await held.query("select from traces where id = $1 for no key update", [id]);
    const due = await dueOf(service.db, agent.id, [id]);
    const forgets = forgetTraces(service.db, new HeapSemaphore(), due);
    await eventually(async () => {
      const { rows } = await (await placeOf(service.db, agent.id)).pool.query(
        "select from pg_stat_activity where wait_event_type = 'Lock' and query like '%is_forgotten%'",
      );
      assert.equal(rows.length, 1);
    });
    await held.query("update traces set revision = revision + 1, updated_at = now() where id = $1", [id]);
    await held.commit();
    assert.deepEqual((await forgets).traces, []);
    const second = { ...about, spanId: newSpanId() };
    await otlp(agent, [callSpan(second, { "app.note": "canary-second" })]);
    const merged = await forgetting.read(`/api/traces/${id}`);
    assert.deepEqual([merged.spans.length, merged.contentForgottenAt], [2, null]);
    await pass(service.db, agent.id, 3_700);
    const trace = await forgetting.forgotten(id);
    assert.equal(trace.spans.length, 2);
    for (const text of ["canary-first", "canary-second"])
      assert.deepEqual(await columnsWith(service.databaseUrl, text), []);
  });

  test("two processes forget each trace once, also what another one had claimed when it died", async () => {
    const agent = await forgetting.forgetful();
    const ids: string[] = [];
    for (let at = 0; at < 60; at++) ids.push(await forgetting.receive(agent.id, `canary-${at}`));
    // Claimed by a process that died before it forgot anything: its lease is over soon.
    await (await placeOf(service.db, agent.id)).pool.query(
      "update traces set updated_at = updated_at - interval '2 hours' where agent_id = $1",
      [agent.id],
    );
    await (await placeOf(service.db, agent.id)).pool.query(
      `update content_deadlines set check_at = now() - interval '1 s'
        where subject_id = any (array(select id from traces where agent_id = $1 order by id limit 20))`,
      [agent.id],
    );
    const others = [1, 2].map(() => openFresh(service.databaseUrl, 3));
    await claimDue(others[0]!, { rowsMax: 20, leaseMs: 500 });
    await (await placeOf(service.db, agent.id)).pool.query(
      "update content_deadlines set check_at = least(check_at, now()) where agent_id = $1",
      [agent.id],
    );
    const told: string[] = [];
    const forgetters = others.map(db =>
      startJob(
        forget({
          ...{ db, vault: noVault, claimMs: 500 },
          forget: (due, signal) => forgetTraces(db, new HeapSemaphore(), due, signal),
          onForgotten: ({ traceId }) => told.push(traceId),
        }),
        { db, log: silent },
      ),
    );
    for (const id of ids)
      await eventually(async () => assert.equal(await forgetting.stored(id), "forgotten"));
    for (const forgetter of forgetters) await forgetter.stop();
    for (const db of others) await db.close();
    assert.equal(new Set(told).size, told.length, "no trace is told twice");
    assert.deepEqual(await columnsWith(service.databaseUrl, "canary-5"), []);
    const { rows } = await (await placeOf(service.db, agent.id)).pool.query(
      "select from content_deadlines where agent_id = $1",
      [agent.id],
    );
    assert.equal(rows.length, 0);
  });

  test("a trace that is too large to be opened keeps the ids on which all of its batches agree, as any other", async () => {
    const cases: [conventions: string[], batches: object[][], ids: object][] = [
      [
        [],
        [
          [{ "session.id": "s-1", "user.id": "u-1" }],
          [{ "gen_ai.conversation.id": "c-1", "user.id": "u-1" }],
        ],
        { conversationId: "c-1", userId: "u-1" },
      ],
      [
        [],
        [[{ "user.id": "u-1" }, { "user.id": "u-2" }], [{ "user.id": "u-1" }]],
        { conversationId: null, userId: null },
      ],
      [
        ["*"],
        [
          [{ "session.id": "s-1", "user.id": "u-1" }],
          [{ "gen_ai.conversation.id": "c-1", "user.id": "u-2" }],
        ],
        { conversationId: "c-1", userId: null },
      ],
    ];
    for (const [conventions, batches, ids] of cases) {
      const agent = await forgetting.forgetful();
      await service.client.patch(`/api/agents/${agent.id}`, { conventions }).expect(200);
      const read: object[] = [];
      for (const heap of [new HeapSemaphore(), new HeapSemaphore({ bytes: 1_000, elements: 10 })]) {
        const traceId = newTraceId();
        for (const batch of batches) {
          const note = { "app.note": "x".repeat(5_000) };
          await otlp(
            agent,
            batch.map(attributes => callSpan({ traceId, spanId: newSpanId() }, { ...note, ...attributes })),
          );
        }
        const { id } = await traceOf(agent.id, traceId);
        await pass(service.db, agent.id, 3_500);
        await (await placeOf(service.db, agent.id)).pool.query(
          "update traces set updated_at = updated_at - interval '1 hour' where id = $1",
          [id],
        );
        const { traces } = await forgetTraces(service.db, heap, await dueOf(service.db, agent.id, [id]));
        assert.equal(traces.length, 1);
        const { conversationId, userId } = await traceOf(agent.id, traceId);
        read.push({ conversationId, userId });
      }
      assert.deepEqual(read, [ids, ids], JSON.stringify(batches));
    }
  });

  test("a trace that is too large to be opened is forgotten batch by batch", async () => {
    const agent = await forgetting.forgetful();
    const about = { traceId: newTraceId(), spanId: newSpanId() };
    for (const [at, spanId] of [about.spanId, newSpanId()].entries()) {
      await otlp(agent, [
        callSpan(
          { ...about, spanId },
          {
            "app.note": `canary-large ${"x".repeat(5_000)}`,
            "user.id": "u-9",
            "gen_ai.usage.input_tokens": `${at + 1}`,
            "gen_ai.tool.name": `canary-tool-${at}`,
            "gen_ai.request.model": `model-${at}`,
          },
        ),
      ]);
    }
    const { id, tokens } = await traceOf(agent.id, about.traceId);
    const deny = { attributes: { deny: ["gen_ai.tool.*"], allow: null } };
    await service.client.patch(`/api/agents/${agent.id}`, deny).expect(200);
    await pass(service.db, agent.id, 3_500);
    await (await placeOf(service.db, agent.id)).pool.query(
      "update traces set updated_at = updated_at - interval '1 hour' where id = $1",
      [id],
    );
    const tiny = new HeapSemaphore({ bytes: 1_000, elements: 10 });
    const { traces } = await forgetTraces(service.db, tiny, await dueOf(service.db, agent.id, [id]));
    assert.deepEqual(
      traces.map(({ traceId }) => traceId),
      [id],
    );
    const trace = await forgetting.read(`/api/traces/${id}`);
    assert.deepEqual(
      [trace.tokens, trace.spans.length, trace.userId, trace.notices.includes("content_not_stored")],
      [tokens, 2, "u-9", true],
    );
    for (const text of ["canary-large", "canary-tool"]) {
      assert.deepEqual(await columnsWith(service.databaseUrl, text), []);
    }
    const values = await forgetting.read(`/api/agents/${agent.id}/trace-values`);
    assert.deepEqual([values.tools, values.models], [[], ["model-0", "model-1"]]);
    const { items } = await forgetting.read(`/api/agents/${agent.id}/traces?model=model-1`);
    assert.deepEqual(
      items.map(one => one.id),
      [id],
    );
  });
});

suite("what is left of forgotten traces", () => {
  test("is stored by the attributes and privacy rules of now, as an agent without content would", async () => {
    const project = await makePrivateProject(service, null);
    const { agentId, key, path } = project;
    const forget = { content: "forget", contentForgetAfterSeconds: 3_600 };
    await service.client.patch(`/api/agents/${agentId}`, forget).expect(200);
    const body = canonicalTrace(agentId);
    Object.assign(body.spans[0]!.attributes, {
      "gen_ai.conversation.id": "c-denied",
      "gen_ai.request.model": "gpt-5.4",
    });
    const id = traceIdOf(await send(service, { key, body }));
    await service.client
      .patch(`/api/agents/${agentId}`, { attributes: { deny: ["gen_ai.conversation.*"], allow: null } })
      .expect(200);
    await service.client.put(path, { builtIn: ["email"] }).expect(200);
    await pass(service.db, agentId, 3_700);
    const trace = await forgetting.forgotten(id);
    const { attributes } = trace.spans[0]!;
    const kept = ["gen_ai.operation.name", "gen_ai.request.model", "user.id"];
    assert.deepEqual(new Set(Object.keys(attributes)), new Set(kept));
    assert.match(String(attributes["user.id"]), /^p_/);
    assert.deepEqual([trace.userId, trace.conversationId], [attributes["user.id"], null]);
    assert.deepEqual(trace.redactions, { pseudonym: 1 });
    for (const text of ["canary.zq7@example.com", "c-denied"])
      assert.deepEqual(await columnsWith(service.databaseUrl, text), []);
    const { items } = await forgetting.read(`/api/agents/${agentId}/conversations`);
    assert.deepEqual(items, []);
  });

  test("has no id where the key of pseudonyms cannot be read, since content must go all the same", async () => {
    const project = await makePrivateProject(service, { builtIn: [], pseudonyms: [] });
    const { agentId, key, path } = project;
    const forget = { content: "forget", contentForgetAfterSeconds: 3_600 };
    await service.client.patch(`/api/agents/${agentId}`, forget).expect(200);
    const traceId = traceIdOf(await send(service, { key, body: canonicalTrace(agentId) }));
    const id = traceId as string;
    await service.client.put(path, { builtIn: ["email"] }).expect(200);
    await (await placeOf(service.db, agentId)).pool.query(
      "update traces set updated_at = updated_at - interval '2 hours' where id = $1",
      [id],
    );
    // Without a vault, no key can be opened.
    const { traces } = await forgetTraces(
      service.db,
      new HeapSemaphore(),
      await dueOf(service.db, agentId, [id]),
    );
    assert.equal(traces.length, 1);
    const trace = await forgetting.read(`/api/traces/${id}`);
    assert.deepEqual([trace.userId, trace.spans[0]!.attributes], [null, {}]);
    assert.deepEqual(await columnsWith(service.databaseUrl, "canary.zq7@example.com"), []);
  });

  test("is not stored by settings that changed after the trace was read", async () => {
    const agent = await forgetting.forgetful();
    const id = await forgetting.receive(agent.id, "canary-settings");
    await (await placeOf(service.db, agent.id)).pool.query(
      "update traces set updated_at = updated_at - interval '2 hours' where id = $1",
      [id],
    );
    const due = await dueOf(service.db, agent.id, [id]);
    const deny = { attributes: { deny: ["user.id"], allow: null } };
    await service.client.patch(`/api/agents/${agent.id}`, deny).expect(200);
    assert.deepEqual((await forgetTraces(service.db, new HeapSemaphore(), due)).traces, []);
    const again = await dueOf(service.db, agent.id, [id]);
    assert.equal((await forgetTraces(service.db, new HeapSemaphore(), again)).traces.length, 1);
    assert.equal((await forgetting.read(`/api/traces/${id}`)).userId, null);
  });
});
