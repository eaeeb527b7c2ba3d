// Redaction in a running service: canaries in every field of both paths are stored nowhere, and placeholders stand for them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { rulesOf } from "../../src/model/redaction.ts";
import { placeOf } from "../../src/store/cluster/routing.ts";
import { sendJson, startAgentServer } from "../support/agent-server.ts";
import { makeTest } from "../support/app.ts";
import {
  canonicalBody,
  canonicalSpan,
  encodings,
  exportedSpan,
  exportOf,
  newSpanId,
  newTraceId,
} from "../support/bodies.ts";
import { startErasure } from "../support/erasing.ts";
import { eventually } from "../support/eventually.ts";
import {
  canary,
  canonicalTrace,
  exportedTrace,
  makePrivateProject,
  order,
  type PrivateProject,
  redacted,
  said,
} from "../support/private-project.ts";
import { send, traceIdOf } from "../support/send.ts";
import { world } from "../support/world.ts";

const service = world({ debounceMs: 50, debounceCapMs: 500 });

const newProject = (settings?: object | null) => makePrivateProject(service, settings);
const post = ({ key }: PrivateProject, body: object, more: object = {}) =>
  send({ url: service.url, key }, { body, ...more });

/** The text of every row of every table, with what is compressed or encoded left as it is. */
async function everyRow(): Promise<string> {
  const { rows: tables } = await service.db.pool.query<{ name: string }>(
    "select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace",
  );
  const texts: string[] = [];
  for (const { name } of tables) {
    const { rows } = await service.db.pool.query<{ text: string }>(`select t::text from "${name}" t`);
    texts.push(...rows.map(row => row.text));
  }
  return texts.join("\n");
}

async function readTrace(traceId: string) {
  return await service.read(`/api/traces/${traceId}`);
}

async function requireGone(project: PrivateProject, traceId: string): Promise<void> {
  const raw = await service.client.get(`/api/traces/${traceId}/raw`).expect(200);
  const list = await service.client.get(`/api/agents/${project.agentId}/traces`).expect(200);
  const shown = JSON.stringify([await readTrace(traceId), raw.body, list.body]);
  for (const text of [canary, order]) {
    assert.equal(shown.includes(text), false);
    assert.equal((await everyRow()).includes(text), false);
  }
  assert.match(shown, /Write to ⟦email⟧ about ⟦order⟧\./);
}

/** What the text of a private project's trace becomes if it says so, too. */
const typed = "⟦email⟧ is what I typed";
const keptTyped = "[email] is what I typed";

test("a canonical trace is redacted in every field before it is stored, and counts what was", async () => {
  const project = await newProject();
  const answer = await post(project, canonicalTrace(project.agentId));
  assert.equal(answer.status, 201);
  const traceId = traceIdOf(answer);
  await requireGone(project, traceId);
  const trace = await readTrace(traceId);
  assert.equal(trace.userInput, redacted);
  assert.equal(trace.responseText, redacted);
  assert.match(trace.userId!, /^p_[\w-]{22}$/);
  assert.deepEqual(trace.redactions, { email: 8, order: 8, pseudonym: 1 });
});

test("a placeholder that arrives with a text is written in brackets, wherever the text is shown", async () => {
  const project = await newProject();
  const text = `${typed}, 😀 ${said}`;
  const stored = `${keptTyped}, 😀 ${redacted}`;
  const traceId = traceIdOf(await post(project, canonicalTrace(project.agentId, text)));
  const outline = await service.read(`/api/traces/${traceId}/outline`);
  const body = await service.read(`/api/traces/${traceId}/conversation`);
  const span = await service.read(`/api/traces/${traceId}/spans/${"root" as string}`);
  const { attributes } = span.span;
  assert.equal((attributes["nested"] as { list: string[] }).list[0], stored);
  const [message] = JSON.parse(String(attributes["gen_ai.input.messages"]));
  assert.equal(message.parts[0].content, stored);
  assert.equal(span.error, stored);
  assert.deepEqual(
    body.turns.map(turn => turn.kind === "message" && (turn.pieces[0] as { text: string }).text),
    [stored, stored],
  );
  for (const read of [await readTrace(traceId), outline])
    assert.deepEqual(read.redactions, { email: 8, order: 8, pseudonym: 1 });
});

for (const [encoding, encode] of Object.entries(encodings)) {
  test(`an OTLP trace in ${encoding} is redacted, and the same sent twice is one`, async () => {
    const project = await newProject();
    const { type, body } = encode(exportedTrace(project, newTraceId()));
    const to = { url: service.url, key: project.key };
    const first = await send(to, { body, type });
    assert.equal(first.status, 200);
    const traceId = first.headers["x-svc-trace-id"] as string;
    await requireGone(project, traceId);
    const before = await readTrace(traceId);
    const again = await send(to, { body, type });
    assert.deepEqual([again.status, again.headers["x-svc-trace-id"]], [200, traceId]);
    const after = await readTrace(traceId);
    assert.deepEqual([after.revision, after.spanCount], [before.revision, 1]);
    assert.deepEqual(after.redactions, { email: 6, order: 6 });
  });
}

test("without rules nothing is changed and nothing is counted, and a placeholder that was typed skips no check", async () => {
  const project = await newProject(null);
  await makeTest({ ...service.owner, projectId: project.projectId }, project.agentId, {
    passiveBehavior: "always_run",
    assertions: [{ type: "response_regex", pattern: "refund", negate: true }],
  });
  const text = `${typed}. ${said}`;
  const traceId = traceIdOf(await post(project, canonicalTrace(project.agentId, text)));
  const trace = await readTrace(traceId);
  assert.deepEqual([trace.responseText, trace.userId, trace.redactions], [text, canary, {}]);
  await eventually(async () => assert.equal((await readTrace(traceId)).runs[0]!.verdict, "passed"));
});

test("the counts of a trace of several batches are those of what is left of them", async () => {
  const project = await newProject();
  const traceId = newTraceId();
  const spanId = newSpanId();
  const sent = (text: string, more: object = {}) =>
    exportOf(
      [
        exportedSpan({ traceId, spanId, attributes: [{ key: "a", value: { stringValue: text } }] }),
        ...[more].filter(one => Object.keys(one).length > 0).map(one => exportedSpan({ traceId, ...one })),
      ],
      project.serviceName,
    );
  const id = String((await post(project, sent(said))).headers["x-svc-trace-id"]);
  await post(project, sent(`Only ${canary} and ${canary}.`, { name: canary }));
  assert.deepEqual((await readTrace(id)).redactions, { email: 2 });
  const { items } = await service.read(`/api/agents/${project.agentId}/traces`);
  assert.deepEqual(items[0]!.redacted, ["email"]);
});

test("lists find traces by the rules that redacted in them, also after a merge", async () => {
  const project = await newProject();
  const { agentId } = project;
  const list = `/api/agents/${agentId}/traces` as const;
  const idsBy = async (rule: string): Promise<string[]> => {
    const body = await service.read(`${list}?redacted=${rule}`);
    return body.items.map(({ id }) => id).sort();
  };
  const merged = newTraceId();
  const sent = [
    traceIdOf(await post(project, canonicalTrace(agentId))),
    traceIdOf(await post(project, canonicalTrace(agentId, `Only ${order}, not ⟦email⟧.`))),
    traceIdOf(await post(project, canonicalTrace(agentId, "Nothing, not even ⟦email⟧."))),
    String(
      (await post(project, exportedTrace(project, merged, `The order ${order}`))).headers["x-svc-trace-id"],
    ),
  ];
  await post(project, exportedTrace(project, merged));
  const body = await service.read(list);
  assert.deepEqual(body.items.map(({ id }) => id).sort(), sent.toSorted());
  const found = new Map<string, string[]>();
  for (const id of sent) {
    const rules = rulesOf((await readTrace(id)).redactions);
    assert.deepEqual(body.items.find(one => one.id === id)!.redacted, rules);
    for (const rule of rules) found.set(rule, [...(found.get(rule) ?? []), id].sort());
  }
  assert.deepEqual([...found.keys()].sort(), ["email", "order", "pseudonym"]);
  for (const [rule, ids] of found) assert.deepEqual(await idsBy(rule), ids, rule);
  assert.deepEqual(await idsBy("phone"), []);
  const values = await service.client.get(`/api/agents/${agentId}/trace-values`).expect(200);
  assert.deepEqual(values.body.redacted, [...found.keys()].sort());
});

test("a trace whose content is forgotten is listed by the rules of what is left alone", async () => {
  const project = await newProject();
  const { agentId } = project;
  const forget = { content: "forget", contentForgetAfterSeconds: 60 };
  await service.client.patch(`/api/agents/${agentId}`, forget).expect(200);
  const traceId = traceIdOf(await post(project, canonicalTrace(agentId)));
  const list = `/api/agents/${agentId}/traces` as const;
  const before = await service.client.get(list).expect(200);
  assert.deepEqual(before.body.items[0]!.redacted, ["email", "order", "pseudonym"]);
  const { pool } = await placeOf(service.db, agentId);
  const ago = "interval '1 hour' where agent_id = $1";
  await pool.query(`update traces set updated_at = updated_at - ${ago}`, [agentId]);
  await pool.query(`update content_deadlines set check_at = check_at - ${ago}`, [agentId]);
  await eventually(async () => assert.notEqual((await readTrace(traceId)).contentForgottenAt, null));
  const after = await service.client.get(list).expect(200);
  assert.deepEqual(after.body.items[0]!.redacted, ["pseudonym"]);
  const values = await service.client.get(`/api/agents/${agentId}/trace-values`).expect(200);
  assert.deepEqual(values.body.redacted, ["pseudonym"]);
});

test("a search for data to erase finds it beside what was redacted", async () => {
  const project = await newProject();
  const traceId = traceIdOf(await post(project, canonicalTrace(project.agentId)));
  const { matches } = await startErasure(
    { client: service.client, projectId: project.projectId },
    { text: "Write to", dryRun: true },
  );
  assert.deepEqual(
    matches.map(match => [match.traceId, match.excerpt]),
    [[traceId, redacted]],
  );
});

test("a check that the redaction could have decided is skipped, and names the rule", async () => {
  const project = await newProject();
  const regex = (pattern: string, negate = false) => ({ type: "response_regex", pattern, negate });
  await makeTest({ ...service.owner, projectId: project.projectId }, project.agentId, {
    passiveBehavior: "always_run",
    assertions: [regex("@", true), regex("Write to", true), regex("about")],
  });
  const traceId = traceIdOf(await post(project, canonicalTrace(project.agentId)));
  const { checks } = await eventually(async () => {
    const [run] = (await readTrace(traceId)).runs;
    assert.equal(run!.state, "completed");
    return run!.results[0]!;
  });
  assert.deepEqual(
    checks.map(({ outcome, skipped = null }) => [outcome, skipped]),
    [
      ["skipped", "redacted"],
      ["failed", null],
      ["passed", null],
    ],
  );
  assert.deepEqual(new Set(checks[0]!.reasonData!["rules"] as string[]), new Set(["email", "order"]));
});

test("a manual run stores its reply redacted, and counts what was", async () => {
  const project = await newProject();
  const server = await startAgentServer(async ({ body, headers }, response) => {
    // The second time, the agent sends a trace with a prompt of its own.
    if (server.requests.length > 1) {
      const attributes = { "gen_ai.prompt": `Be kind. ${body.message}` };
      const spans = [canonicalSpan({ attributes })];
      const named = { headers: { "x-request-id": String(headers["x-request-id"]) } };
      await post(project, canonicalBody(project.agentId, { spans }), named);
    }
    sendJson(response, { reply: `⟦email⟧ is ${body.message}` });
  });
  const connection = {
    type: "http_api",
    url: server.url,
    bodyTemplate: '{"message":"{{input}}"}',
    reply: { kind: "json", pointer: "/reply" },
    waitMs: 0,
  };
  await service.client.put(`/api/agents/${project.agentId}/connection`, connection).expect(200);
  const { id } = await makeTest({ ...service.owner, projectId: project.projectId }, project.agentId, {
    passiveBehavior: "manual_only",
    turns: [{ input: said }],
    assertions: [{ type: "response_regex", pattern: "Write" }],
  });
  const turnOf = async () => {
    const made = await service.client
      .post(`/api/agents/${project.agentId}/launches`, { testIds: [id] })
      .expect(201);
    const launch = await eventually(async () => {
      const body = await service.read(`/api/launches/${made.body.id}`);
      assert.notEqual(body.finishedAt, null);
      return body;
    });
    return (await service.read(`/api/runs/${launch.runs[0]!.id}`)).turns![0]!;
  };
  const turn = await turnOf();
  assert.equal(turn.text, `[email] is ${redacted}`);
  assert.deepEqual(turn.redactions, { email: 1, order: 1 });
  const trace = await readTrace(turn.traceId!);
  assert.equal(trace.responseText, turn.text);
  assert.deepEqual(rulesOf(trace.redactions), ["email", "order"]);
  assert.equal(trace.userInput, redacted);

  const prompted = await turnOf();
  await server.close();
  assert.equal(prompted.arrived, true);
  assert.equal((await readTrace(prompted.traceId!)).userInput, redacted, "the message that was sent");
  const { items } = await service.read(`/api/agents/${project.agentId}/traces?kind=test_run`);
  assert.deepEqual(
    items.map(({ userInput }) => userInput),
    [redacted, redacted],
  );
});
