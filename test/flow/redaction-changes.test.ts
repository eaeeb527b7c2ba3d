// Redaction while rules, keys and settings change, and of traces and log records that are sent again.

import assert from "node:assert/strict";
import { request } from "node:http";
import { test } from "node:test";
import { placeOf } from "../../src/store/cluster/routing.ts";
import { begun, waiting } from "../store/locks.ts";
import { exportOf, newSpanId, newTraceId } from "../support/bodies.ts";
import { eventually } from "../support/eventually.ts";
import { columnsWith } from "../support/leftovers.ts";
import { callSpan, logsOf, questionRecord } from "../support/log-records.ts";
import {
  canonicalTrace,
  exportedTrace,
  makePrivateProject,
  order,
  type PrivateProject,
  redacted,
  rules,
} from "../support/private-project.ts";
import { send, traceIdOf } from "../support/send.ts";
import { world } from "../support/world.ts";

const service = world({ debounceMs: 50, debounceCapMs: 500 });

const newProject = (settings?: object | null) => makePrivateProject(service, settings);
const post = ({ key }: PrivateProject, body: object, more: object = {}) =>
  send({ url: service.url, key }, { body, ...more });

async function readTrace(traceId: string) {
  return await service.read(`/api/traces/${traceId}`);
}

test("from the moment the settings are answered, nothing is stored by the former ones", async () => {
  const project = await newProject(null);
  const sent: Promise<string>[] = [];
  let stop = false;
  let saved = false;
  const later: string[] = [];
  const sending = (async () => {
    while (!stop) {
      const after = saved;
      const one = post(project, canonicalTrace(project.agentId)).then(answer => traceIdOf(answer));
      sent.push(one);
      const id = await one;
      if (after) later.push(id);
      if (later.length >= 5) stop = true;
    }
  })();
  await eventually(async () => assert.ok(sent.length > 3));
  await service.client.put(project.path, rules).expect(200);
  const { rows } = await service.db.pool.query<{ id: string }>("select id from traces where agent_id = $1", [
    project.agentId,
  ]);
  const known = new Set(rows.map(({ id }) => id));
  saved = true;
  await sending;
  const all = await Promise.all(sent);
  const unknown = all.filter(id => !known.has(id));
  assert.ok(unknown.length >= 5);
  for (const id of unknown) assert.equal((await readTrace(id)).responseText, redacted);
});

test("the same person has the same pseudonym in each trace", async () => {
  const project = await newProject({ pseudonyms: ["user.id"] });
  const userOf = async () =>
    (await readTrace(traceIdOf(await post(project, canonicalTrace(project.agentId))))).userId;
  const first = await userOf();
  assert.match(first!, /^p_/);
  assert.equal(await userOf(), first);
});

/** What the trace says of each of its spans: its response and the texts of its log records. */
async function textsOf(traceId: string) {
  const { spans, revision } = await service.read(`/api/traces/${traceId}/raw`);
  const said = spans.map(span => span.attributes["gen_ai.response.text"]);
  const logged = spans.flatMap(span =>
    (span.log_records ?? []).map(one => (one.body as { content: string }).content),
  );
  return { said, logged, revision };
}

test("a trace sent again after its answer was lost, or after a change of rules, is one with each span once", async () => {
  for (const path of ["canonical", "otlp"]) {
    const project = await newProject();
    const headers = { "x-request-id": `twice-${path}` };
    const sent = (text?: string) =>
      path === "canonical"
        ? canonicalTrace(project.agentId, text)
        : exportedTrace(project, ids.traceId, text);
    const ids = { traceId: newTraceId() };
    const body = JSON.stringify(sent());
    const first = request(`${service.url}/public/traces`, {
      method: "POST",
      headers: { ...headers, "x-api-key": project.key, "content-type": "application/json" },
    });
    first.on("error", () => {});
    first.end(body);
    const rows = () =>
      service.db.pool.query<{ id: string; revision: number; spans: number }>(
        "select id, revision, span_count as spans from traces where agent_id = $1",
        [project.agentId],
      );
    const [stored] = await eventually(async () => {
      const found = await rows();
      assert.equal(found.rows.length, 1);
      return found.rows;
    });
    first.destroy();
    await post(project, JSON.parse(body), { headers });
    assert.deepEqual((await rows()).rows, [stored], path);

    // Other rules: newer content of the same spans, by the rules of now.
    await service.client.put(project.path, { builtIn: ["*"], rules: [] }).expect(200);
    await post(project, JSON.parse(body), { headers });
    const { said: texts } = await textsOf(stored!.id);
    assert.deepEqual(texts, [`Write to ⟦email⟧ about ${order}.`], path);
    const [after] = (await rows()).rows;
    assert.deepEqual([after!.id, after!.spans], [stored!.id, 1]);
    assert.equal((await readTrace(stored!.id)).revision, stored!.revision + 1);
  }
});

test("log records that become alike are as many as were sent, and are not doubled when they are sent again", async () => {
  const project = await newProject();
  await service.client.patch(`/api/agents/${project.agentId}`, { conventions: ["*"] }).expect(200);
  const about = { traceId: newTraceId(), spanId: newSpanId() };
  const logs = (...texts: string[]) =>
    send(
      { url: service.url, key: project.key },
      {
        path: "/public/logs",
        body: logsOf(
          texts.map(text => questionRecord(about, text)),
          project.serviceName,
        ),
      },
    );
  const { body } = { body: exportOf([callSpan(about)], project.serviceName) };
  const traceId = (await post(project, body)).headers["x-svc-trace-id"] as string;
  const [one, two] = ["I am jane@example.com", "I am john@example.com"];
  const loggedAfter = async (...texts: string[]) => {
    assert.equal((await logs(...texts)).status, 200);
    return (await textsOf(traceId)).logged;
  };
  const alike = "I am ⟦email⟧";
  assert.deepEqual(await loggedAfter(one), [alike]);
  assert.deepEqual(await loggedAfter(one, two), [alike, alike]);
  assert.deepEqual(await loggedAfter(one, two), [alike, alike]);
  // Alone, it cannot be told from one that is sent again.
  assert.deepEqual(await loggedAfter("I am joan@example.com"), [alike, alike]);
});

test("a batch that waits to be merged while rules or settings change is stored by those of then", async () => {
  const text = "Write to waited@example.com.";
  for (const [change, then] of [
    [
      (project: PrivateProject) => service.client.put(project.path, rules).expect(200),
      ["Write to ⟦email⟧.", "Write to ⟦email⟧."],
    ],
    [
      ({ agentId }: PrivateProject) =>
        service.client
          .patch(`/api/agents/${agentId}`, { attributes: { deny: ["gen_ai.prompt"] } })
          .expect(200),
      [undefined, text],
    ],
  ] as const) {
    const project = await newProject(null);
    const traceId = newTraceId();
    const answer = await post(project, exportedTrace(project, traceId, "the first"));
    const stored = answer.headers["x-svc-trace-id"];
    const place = await placeOf(service.db, project.agentId);
    const merge = await begun(place);
    await merge.query("select from traces where id = $1 for update", [stored]);
    const merged = post(project, exportedTrace(project, traceId, text));
    await waiting(place, "for update of t for key share of a");
    await change(project);
    await merge.commit();
    assert.equal((await merged).status, 200);
    const { spans } = await service.read(`/api/traces/${stored}/raw`);
    const texts = spans.map(span => [
      span.attributes["gen_ai.prompt"],
      span.attributes["gen_ai.response.text"],
    ]);
    assert.deepEqual(
      texts.filter(([, said]) => said !== "the first"),
      [then],
    );
    const left = then[1] === text ? ["trace_batches.spans"] : [];
    assert.deepEqual(
      (await columnsWith(service.databaseUrl, "waited@example")).filter(place => place.startsWith("trace_")),
      left,
    );
  }
});
