// Placeholders in what is copied of a trace: evidence of checks, the judge's material, its words, and replies of manual runs.

import assert from "node:assert/strict";
import { test } from "node:test";
import { makeTest } from "../support/app.ts";
import { eventually } from "../support/eventually.ts";
import { obliging, startJudgeServer } from "../support/judge-server.ts";
import { canary, canonicalTrace, makePrivateProject } from "../support/private-project.ts";
import { traceIdOf } from "../support/send.ts";
import { world } from "../support/world.ts";

const service = world();

test("checks copy placeholders, and a judge that is withheld what is stored is sent the same", async () => {
  const judge = await startJudgeServer(obliging({ reason: "The customer wrote from ⟦email⟧." }));
  service.closing.push(() => judge.close());
  const { url } = judge.connection({ provider: "openai_compatible" });
  const connection = { provider: "openai_compatible", url, model: "local-model", apiKey: "key" };
  const text = `⟦email⟧ is what I typed, write to ${canary}. What does ⟦phone⟧ mean?`;
  const storedText = "[email] is what I typed, write to ⟦email⟧. What does [phone] mean?";
  for (const [settings, stored] of [
    [{ builtIn: ["email"] }, storedText],
    [{ judgeRules: ["email"] }, text],
  ] as const) {
    const project = await makePrivateProject(service, settings);
    await service.client.put(`/api/projects/${project.projectId}/judge`, connection).expect(200);
    await makeTest({ ...service.owner, projectId: project.projectId }, project.agentId, {
      passiveBehavior: "always_run",
      assertions: [
        { type: "response_regex", pattern: "typed" },
        { type: "tool_call", expected_name: "mail", expected_arguments: { about: "other" } },
        { type: "semantic", criteria: ["Says whom to write to"] },
      ],
    });
    const body: { platformId: string; spans: object[] } = canonicalTrace(project.agentId, text);
    const args = JSON.stringify({ about: text });
    body.spans.push({
      ...body.spans[0],
      ...{ span_id: "tool", parent_span_id: "root", name: "Mail" },
      attributes: { "gen_ai.tool.name": "mail", "gen_ai.tool.call.arguments": args },
    });
    const traceId = traceIdOf(await service.send({ key: project.key, body }));
    const run = await eventually(async () => {
      const found = (await service.read(`/api/traces/${traceId}`)).runs[0];
      assert.equal(found!.state, "completed");
      return found!;
    });
    const [regex, tool, semantic] = run.results[0]!.checks;
    const { before, text: match, after } = regex!.match!;
    assert.equal(before + match + after, stored);
    assert.deepEqual(tool!.evidence[0]!.value, { about: stored });
    assert.equal(semantic!.reasonData!["comment"], "The customer wrote from ⟦email⟧.");
    const { items } = await service.read(`/api/runs/${run.id}/calls`);
    const asked = items.find(({ kind }) => kind === "semantic")!;
    assert.match(asked.instructions, /replaced by placeholders: "⟦email⟧"/);
    assert.ok(asked.material.includes(storedText), asked.material);
    assert.ok(!asked.material.includes(text), asked.material);
  }
});
