// Redactions by rule and hour are exact: they equal a recount of what is stored.
import assert from "node:assert/strict";
import { test } from "node:test";
import { countIn } from "../../src/model/redaction.ts";
import { makeAgent, makeKey } from "../support/app.ts";
import { canonicalBody, canonicalSpan, exportedSpan, exportOf } from "../support/bodies.ts";
import { send } from "../support/send.ts";
import { world } from "../support/world.ts";

const service = world();

test("redactions are counted by rule, hour and day, and equal a recount of the stored traces", async () => {
  const { body: project } = await service.client.post("/api/projects", { name: "Leaky" }).expect(201);
  const settings = {
    builtIn: ["email", "card"],
    rules: [{ name: "order", pattern: "ZQ-\\d+" }],
    pseudonyms: ["customer"],
  };
  await service.client.put(`/api/projects/${project.id}/privacy`, settings).expect(200);
  const owner = { ...service.owner, projectId: project.id };
  const agent = await makeAgent(owner, { otlpServiceName: "leaky" });
  const quiet = await makeAgent(owner, { name: "Quiet" });
  const { key } = await makeKey(owner);
  const to = { url: service.url, key };
  const texts = ["ann@shop.example and bob@shop.example", "ZQ-1, ZQ-2 and 4111 1111 1111 1111", "nothing"];
  await Promise.all(
    texts.flatMap((text, at) => [
      send(to, {
        body: canonicalBody(agent.id, {
          spans: [canonicalSpan({ attributes: { text, customer: at, list: [text, "⟦email⟧"] } })],
          metadata: { text },
        }),
      }),
      send(to, {
        body: exportOf(
          [exportedSpan({ attributes: [{ key: "text", value: { stringValue: text } }] })],
          "leaky",
        ),
      }),
    ]),
  ).then(answers => assert.ok(answers.every(({ status }) => status < 300)));

  const { items } = await service.read(`/api/agents/${agent.id}/traces`);
  const traces = await Promise.all(items.map(({ id }) => service.read(`/api/traces/${id}`)));
  const recount: Record<string, number> = {};
  for (const { redactions, spans, metadata } of traces) {
    const rules = Object.keys(redactions);
    assert.deepEqual({ ...countIn({ spans, metadata }, rules) }, redactions);
    for (const [rule, count] of Object.entries(redactions)) recount[rule] = (recount[rule] ?? 0) + count;
  }
  assert.deepEqual(recount, { email: 8, order: 8, card: 4, pseudonym: 3 });
  for (const interval of ["hour", "day"]) {
    const path = `/api/agents/${agent.id}/insights/redactions?interval=${interval}` as const;
    const body = await service.read(path);
    const shown = Object.fromEntries(
      body.series.map(({ rule, points, total }: Series) => {
        assert.equal(
          points.reduce((sum, { count }) => sum + count, 0),
          total,
        );
        return [rule, total];
      }),
    );
    assert.deepEqual(shown, recount);
    assert.equal(body.total, 23);
  }
  const body = await service.read(`/api/agents/${quiet.id}/insights/redactions`);
  assert.deepEqual([body.series, body.total], [[], 0]);
  const stranger = await service.signUp();
  await stranger.client.get(`/api/agents/${agent.id}/insights/redactions`).expect(404);
});

type Series = { rule: string; points: { count: number }[]; total: number };
