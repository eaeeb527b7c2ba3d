// Privacy settings over the API: their shape, what is refused, their trial on past traces, and the key of pseudonyms.
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeAgent, makeKey } from "../../support/app.ts";
import { canonicalBody, canonicalSpan } from "../../support/bodies.ts";
import { send } from "../../support/send.ts";
import { world } from "../../support/world.ts";

const service = world({ roles: ["http"] });

const nothing = { builtIn: [], rules: [], pseudonyms: [], judgeRules: [], judgeSeesToolResults: true };

async function newProject() {
  const { body } = await service.client.post("/api/projects", { name: "Private" }).expect(201);
  return { projectId: body.id, path: `/api/projects/${body.id}/privacy` as const };
}

test("a new project redacts nothing, and what is saved is read back", async () => {
  const { path } = await newProject();
  assert.deepEqual(await service.read(path), nothing);
  const settings = {
    builtIn: ["email", "card"],
    rules: [
      { name: "order", pattern: "A-\\d{4}", flags: "i" },
      { name: "badge_2", pattern: "B\\d+" },
    ],
    pseudonyms: ["customer.number"],
    judgeRules: ["*"],
    judgeSeesToolResults: false,
  };
  assert.deepEqual((await service.client.put(path, settings).expect(200)).body, settings);
  assert.deepEqual(await service.read(path), settings);
  assert.deepEqual((await service.client.put(path, {}).expect(200)).body, nothing);
  assert.deepEqual(await service.read(path), nothing);
});

test("invalid settings are refused with the path of each fault, and change nothing", async () => {
  const { path } = await newProject();
  const saved = { ...nothing, builtIn: ["*"] };
  await service.client.put(path, saved).expect(200);
  const rule = { name: "order", pattern: "A-\\d{4}" };
  const faults: [body: object, path: string][] = [
    [{ builtIn: ["emails"] }, "builtIn[0]"],
    [{ builtIn: "email" }, "builtIn"],
    [{ judgeRules: ["order"] }, "judgeRules[0]"],
    [{ rules: [rule, rule] }, "rules[1].name"],
    [{ rules: [{ ...rule, name: "email" }] }, "rules[0].name"],
    [{ rules: [{ ...rule, name: "Order" }] }, "rules[0].name"],
    [{ rules: [rule, { name: "open", pattern: "(" }] }, "rules[1].pattern"],
    [{ rules: [{ ...rule, pattern: "" }] }, "rules[0].pattern"],
    [{ rules: Array.from({ length: 21 }, (_, at) => ({ ...rule, name: `r${at}` })) }, "rules"],
    [{ pseudonyms: ["service.name"] }, "pseudonyms[0]"],
    [{ pseudonyms: ["user", "user"] }, "pseudonyms[1]"],
    [{ judgeSeesToolResults: "no" }, "judgeSeesToolResults"],
    [{ judgeSeesTools: false }, ""],
  ];
  for (const [body, at] of faults) {
    const answer = await service.client.put(path, body).expect(400);
    assert.equal(answer.body.code, "VALIDATION_ERROR");
    assert.deepEqual(
      answer.body.issues!.map((issue: { path: string }) => issue.path),
      [at],
      JSON.stringify(body),
    );
  }
  assert.deepEqual(await service.read(path), saved);
});

test("the key of pseudonyms is made with the first rule, once, and stored encrypted", async () => {
  const { path, projectId } = await newProject();
  const keyPath = `${path}/pseudonym-key` as const;
  const none = { createdAt: null, readable: true };
  assert.deepEqual(await service.read(keyPath), none);
  await service.client.put(path, { judgeRules: ["*"] }).expect(200);
  assert.deepEqual(await service.read(keyPath), none);
  await service.client.put(path, { builtIn: ["email"] }).expect(200);
  const made = await service.read(keyPath);
  assert.deepEqual([made.readable, typeof made.createdAt], [true, "string"]);
  await service.client.put(path, { builtIn: ["*"] }).expect(200);
  assert.deepEqual(await service.read(keyPath), made);
  const { rows } = await service.db.pool.query(
    "select octet_length(sealed) as bytes from pseudonym_keys where project_id = $1",
    [projectId],
  );
  // Version, nonce, tag and the 43 characters of the key.
  assert.deepEqual(rows, [{ bytes: 72 }]);
});

test("rules can be tried on the latest traces, which stay as they are", async () => {
  const { path, projectId } = await newProject();
  const agent = await makeAgent(service.owner, { projectId });
  const { key } = await makeKey({ ...service.owner, projectId });
  const texts = ["Mail ada@example.com or bob@example.com", "Order A-1234", "Nothing here"];
  for (const text of texts) {
    const span = canonicalSpan({ attributes: { "gen_ai.response.text": text } });
    const answer = await send(
      { url: service.url, key },
      { body: canonicalBody(agent.id, { spans: [span] }) },
    );
    assert.equal(answer.status, 201);
  }
  const rules = [
    { name: "order", pattern: "A-\\d{4}" },
    { name: "never", pattern: "zzzz" },
  ];
  const { body } = await service.client.post(`${path}/preview`, { builtIn: ["email"], rules }).expect(200);
  const { rules: byRule, ...sums } = body;
  assert.deepEqual(sums, { traces: 3, skipped: 0, changed: 2, values: 3 });
  const figures = byRule.map((one: { rule: string; values: number; traces: number }) => [
    one.rule,
    one.values,
    one.traces,
  ]);
  assert.deepEqual(figures, [
    ["email", 2, 1],
    ["order", 1, 1],
    ["never", 0, 0],
  ]);
  const [example] = byRule[0]!.examples;
  assert.deepEqual(
    [example!.agentId, example!.in, example!.path],
    [agent.id, "attributes", "gen_ai.response.text"],
  );
  const trace = await service.client.get(`/api/traces/${example!.traceId}`).expect(200);
  assert.match(JSON.stringify(trace.body), /ada@example\.com/);
  assert.deepEqual(await service.read(path), nothing);
  await service.client.post(`${path}/preview`, { rules: [{ name: "x", pattern: "(" }] }).expect(400);
});
