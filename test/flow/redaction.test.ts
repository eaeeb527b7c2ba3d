// Redaction in a running service: canaries in every field of both paths are stored nowhere, and every text says where.

import assert from "node:assert/strict";
import { test } from "node:test";
import { placeOf } from "../../src/store/scale/places.ts";
import { sendJson, startAgentServer } from "../support/agent-server.ts";
import { makeTest } from "../support/app.ts";
import { canonicalBody, canonicalSpan, encodings, newTraceId } from "../support/bodies.ts";
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
  assert.match(shown, /Write to \[email\] about \[order\]\./);
}

test("a canonical trace is redacted in every field before it is stored, and says where", async () => {
  const project = await newProject();
  const answer = await post(project, canonicalTrace(project.agentId));
  assert.equal(answer.status, 201);
  const traceId = traceIdOf(answer);
  await requireGone(project, traceId);
  const trace = await readTrace(traceId);
  assert.equal(trace.userInput, redacted);
  assert.equal(trace.responseText, redacted);
  assert.match(trace.userId!, /^p_[\w-]{22}$/);
  const found = trace.redactions.find(one => one.path === "gen_ai.response.text" && one.rule === "email");
  assert.deepEqual(found, {
    spanId: "root",
    in: "attributes",
    path: "gen_ai.response.text",
    rule: "email",
    places: [[9, 16]],
  });
  const places = new Set(trace.redactions.map(one => one.in));
  assert.deepEqual([...places].sort(), ["attributes", "events", "metadata", "status"]);
});

test("input, reply, messages, a span and its error say where they were redacted, a typed placeholder apart", async () => {
  const project = await newProject();
  const answer = await post(project, canonicalTrace(project.agentId, `[email] is ${said}`));
  const traceId = traceIdOf(answer);
  const derived = [
    { rule: "email", places: [[20, 27]] },
    { rule: "order", places: [[34, 41]] },
  ];
  const outline = await service.read(`/api/traces/${traceId}/outline`);
  for (const read of [await readTrace(traceId), outline]) {
    assert.equal(read.userInput, `[email] is ${redacted}`);
    assert.deepEqual(read.userInputRedactions, derived);
    assert.deepEqual(read.responseTextRedactions, derived);
  }
  const body = await service.read(`/api/traces/${traceId}/conversation`);
  assert.deepEqual(
    body.turns.map(
      turn => turn.kind === "message" && [turn.role, (turn.pieces[0] as { redactions: object }).redactions],
    ),
    [
      ["user", derived],
      ["assistant", derived],
    ],
  );
  const root: string = "root";
  const span = await service.read(`/api/traces/${traceId}/spans/${root}`);
  assert.deepEqual(span.errorRedactions, derived);
  assert.deepEqual(
    span.redactions,
    outline.redactions.filter(one => one.spanId === "root"),
  );
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
    const places = new Set(after.redactions.map(one => one.in));
    assert.deepEqual([...places].sort(), ["attributes", "events", "resource", "scope", "status"]);
  });
}

test("without rules nothing is changed, and nothing is marked", async () => {
  const project = await newProject(null);
  const traceId = traceIdOf(await post(project, canonicalTrace(project.agentId)));
  const trace = await readTrace(traceId);
  assert.deepEqual([trace.responseText, trace.userId, trace.redactions], [said, canary, []]);
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
    traceIdOf(await post(project, canonicalTrace(agentId, `Only ${order}, not [email].`))),
    traceIdOf(await post(project, canonicalTrace(agentId, "Nothing, not even [email]."))),
    String(
      (await post(project, exportedTrace(project, merged, `The order ${order}`))).headers["x-svc-trace-id"],
    ),
  ];
  await post(project, exportedTrace(project, merged));
  const body = await service.read(list);
  assert.deepEqual(body.items.map(({ id }) => id).sort(), sent.toSorted());
  const found = new Map<string, string[]>();
  for (const id of sent) {
    const { redactions } = await readTrace(id);
    const rules = [...new Set(redactions.map(one => one.rule))].sort();
    assert.deepEqual(body.items.find(one => one.id === id)!.redacted, rules);
    for (const rule of rules) found.set(rule, [...(found.get(rule) ?? []), id].sort());
  }
  assert.deepEqual([...found.keys()].sort(), ["email", "order", "pseudonym"]);
  for (const [rule, ids] of found) assert.deepEqual(await idsBy(rule), ids, rule);
  assert.deepEqual(await idsBy("phone"), []);
  const values = await service.client.get(`/api/agents/${agentId}/trace-values`).expect(200);
  assert.deepEqual(values.body.redacted, [...found.keys()].sort());
});

test("the texts of lists say where they were redacted, a typed placeholder apart", async () => {
  const project = await newProject();
  const { agentId } = project;
  const agentPath = `/api/agents/${agentId}` as const;
  const typed = `[email] is ${said}`;
  const body = canonicalTrace(agentId, typed);
  Object.assign(body.spans[0]!.attributes, {
    "gen_ai.conversation.id": "c-1",
    "http.response.status_code": 200,
  });
  const traceId = traceIdOf(await post(project, body));
  const merged = newTraceId();
  const long = `${"x".repeat(470)} ${typed}`;
  await post(project, exportedTrace(project, merged, long));
  const mergedId = (await post(project, exportedTrace(project, merged, long))).headers["x-svc-trace-id"];
  const places = [
    { rule: "email", places: [[20, 27]] },
    { rule: "order", places: [[34, 41]] },
  ];
  // Of a text that is cut, the places within what is left of it.
  const cut = [{ rule: "email", places: [[491, 498]] }];
  const { items } = await service.read(`${agentPath}/traces`);
  for (const [id, expected] of [
    [traceId, places],
    [mergedId, cut],
  ]) {
    const row = items.find(one => one.id === id);
    assert.deepEqual([row!.userInputRedactions, row!.responseTextRedactions], [expected, expected]);
  }
  const conversations = await service.client.get(`${agentPath}/conversations`).expect(200);
  const [conversation] = conversations.body.items;
  assert.deepEqual(
    [conversation!.userInputRedactions, conversation!.responseTextRedactions],
    [places, places],
  );
  const overview = await service.read(`${agentPath}/overview`);
  const slow = overview.slowest.traces.find(one => one.id === traceId);
  assert.deepEqual(slow!.userInputRedactions, places);
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

test("a place that a search for data to erase found says what was redacted, unless the same was typed", async () => {
  const project = await newProject();
  const plain = traceIdOf(await post(project, canonicalTrace(project.agentId)));
  const mixed = traceIdOf(await post(project, canonicalTrace(project.agentId, `${said} I mean [email].`)));
  const { matches } = await startErasure(
    { client: service.client, projectId: project.projectId },
    { text: "Write to", dryRun: true },
  );
  const redactionsOf = (id: string) => {
    const { excerpt, redactions } = matches.find(({ traceId }) => traceId === id)!;
    return redactions.map(({ rule, places }) => [rule, places.map(place => excerpt.slice(...place))]);
  };
  assert.deepEqual(redactionsOf(plain), [
    ["email", ["[email]"]],
    ["order", ["[order]"]],
  ]);
  assert.deepEqual(redactionsOf(mixed), [["order", ["[order]"]]]);
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

test("a manual run stores its reply redacted, and says where", async () => {
  const project = await newProject();
  const server = await startAgentServer(async ({ body, headers }, response) => {
    // The second time, the agent sends a trace with a prompt of its own.
    if (server.requests.length > 1) {
      const attributes = { "gen_ai.prompt": `Be kind. ${body.message}` };
      const spans = [canonicalSpan({ attributes })];
      const named = { headers: { "x-request-id": String(headers["x-request-id"]) } };
      await post(project, canonicalBody(project.agentId, { spans }), named);
    }
    sendJson(response, { reply: `[email] is ${body.message}` });
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
  const expected = [
    { rule: "email", places: [[20, 27]] },
    { rule: "order", places: [[34, 41]] },
  ];
  assert.equal(turn.text, `[email] is ${redacted}`);
  assert.deepEqual(turn.redactions, expected);
  const trace = await readTrace(turn.traceId!);
  assert.deepEqual([trace.responseText, trace.responseTextRedactions], [turn.text, expected]);
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
