// What checks copy of a trace says where privacy rules had changed it: a typed placeholder is none.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Check } from "../../src/model/run/run.ts";
import { sendJson, startAgentServer } from "../support/agent-server.ts";
import { makeTest } from "../support/app.ts";
import { eventually } from "../support/eventually.ts";
import { obliging, startJudgeServer } from "../support/judge-server.ts";
import {
  canary,
  canonicalTrace,
  makePrivateProject,
  type PrivateProject,
} from "../support/private-project.ts";
import { jsonOf, send, traceIdOf } from "../support/send.ts";
import { world } from "../support/world.ts";

const service = world();

const ownerOf = ({ projectId }: PrivateProject) => ({ ...service.owner, projectId });

/** Path, rule and start of what stands for an email in the texts of a check. */
function redactedIn(check: Check): [path: string, rule: string, start: number][] {
  return (check.redactions ?? []).flatMap(({ path, rule, places }) =>
    places.map(([start, end]: [number, number]) => {
      const steps = path.replaceAll("]", "").split(/[.[]/);
      const text = steps.reduce<unknown>(
        (value, step) => (value as Record<string, unknown>)[step],
        check,
      ) as string;
      assert.equal(text.slice(start, end), "[email]");
      return [path, rule, start];
    }),
  );
}

test("values, matches, arguments and quotations of a live trace say where they were redacted", async () => {
  const judge = await startJudgeServer();
  service.closing.push(() => judge.close());
  const project = await makePrivateProject(service);
  const { url } = judge.connection({ provider: "openai_compatible" });
  await service.client
    .put(`/api/projects/${project.projectId}/judge`, {
      provider: "openai_compatible",
      url,
      model: "local-model",
      apiKey: "key",
    })
    .expect(200);
  const { agentId } = project;
  await makeTest(ownerOf(project), agentId, {
    passiveBehavior: "always_run",
    assertions: [
      { type: "response_regex", pattern: "said" },
      { type: "response_regex", pattern: "@", negate: true },
      {
        type: "json_match",
        target_node: "Answer",
        field: "contact",
        expected_value: { typed: "[email]", to: "x" },
      },
      { type: "tool_call", expected_name: "mail", expected_arguments: { about: "other" } },
      { type: "semantic", criteria: ["Says whom to write to"] },
    ],
  });
  const body: { platformId: string; spans: { attributes: object }[] } = canonicalTrace(
    agentId,
    `[email] is what I said, write to ${canary}.`,
  );
  const root = body.spans[0]!;
  Object.assign(root.attributes, { contact: { typed: "[email]", to: canary } });
  const tool = { span_id: "tool", parent_span_id: "root", name: "Mail" };
  body.spans.push({
    ...root,
    ...tool,
    attributes: {
      "gen_ai.tool.name": "mail",
      "gen_ai.tool.call.arguments": JSON.stringify({ about: "[email]", to: canary }),
    },
  });
  const traceId = traceIdOf(await service.send({ key: project.key, body }));
  const checks = await eventually(async () => {
    const [run] = (await service.read(`/api/traces/${traceId}`)).runs;
    assert.equal(run!.state, "completed");
    return run!.results[0]!.checks;
  });
  const at = (path: string, place: number) => [path, "email", place];
  assert.deepEqual(
    checks.map(check => [check.type, check.outcome, redactedIn(check)]),
    [
      ["response_regex", "passed", [at("evidence[0].value", 33), at("match.after", 11)]],
      ["response_regex", "skipped", [at("evidence[0].value", 33), at("actual", 33)]],
      ["json_match", "skipped", [at("evidence[0].value.to", 0), at("actual.to", 0)]],
      ["tool_call", "skipped", [at("evidence[0].value.to", 0)]],
      [
        "semantic",
        "passed",
        [
          at("evidence[0].value", 33),
          at("actual.criteria[0].evidence", 33),
          at("actual.criteria[0].quotes[0].text", 33),
        ],
      ],
    ],
  );
});

test("a manual run's copies of replies say where they were redacted, turn by turn", async () => {
  const project = await makePrivateProject(service);
  const server = await startAgentServer(({ body }, response) => {
    sendJson(response, { reply: `[email] is what ${body.message} said, ${canary}` });
  });
  service.closing.push(() => server.close());
  const connection = {
    type: "http_api",
    url: server.url,
    bodyTemplate: '{"message":"{{input}}"}',
    reply: { kind: "json", pointer: "/reply" },
    waitMs: 0,
  };
  await service.client.put(`/api/agents/${project.agentId}/connection`, connection).expect(200);
  const { id } = await makeTest(ownerOf(project), project.agentId, {
    passiveBehavior: "manual_only",
    turns: [{ input: "Ann" }, { input: "Bob" }],
    assertions: [
      { type: "response_regex", pattern: "Ann said", turn: 1 },
      { type: "response_regex", pattern: "Bob said" },
    ],
  });
  const made = await service.client
    .post(`/api/agents/${project.agentId}/launches`, { testIds: [id] })
    .expect(201);
  const launch = await eventually(async () => {
    const one = await service.read(`/api/launches/${made.body.id}`);
    assert.notEqual(one.finishedAt, null);
    return one;
  });
  const run = await service.read(`/api/runs/${launch.runs[0]!.id}`);
  assert.deepEqual(
    run.results[0]!.checks.map(check => [check.evidence[0]!.turn, redactedIn(check)]),
    [1, 2].map(turn => [
      turn,
      [
        ["evidence[0].value", "email", 26],
        ["match.after", "email", 2],
      ],
    ]),
  );
});

test("reasons of backtests and of scenarios that are tried say what was redacted, a typed placeholder apart", async () => {
  const said = "The customer wrote from [email], see [order].";
  const script = obliging({
    label: scenario => (scenario.includes("weather") ? "no_match" : "match"),
    verdict: () => "partly",
    evidence: () => "Write to [email]",
    reason: said,
  });
  const judge = await startJudgeServer(script);
  service.closing.push(() => judge.close());
  const project = await makePrivateProject(service);
  const { agentId, projectId } = project;
  const { url } = judge.connection({ provider: "openai_compatible" });
  const connection = { provider: "openai_compatible", url, model: "local-model", apiKey: "key" };
  await service.client.put(`/api/projects/${projectId}/judge`, connection).expect(200);
  const text = `Write to ${canary}. What does [order] mean?`;
  const sent = await send({ url: service.url, key: project.key }, { body: canonicalTrace(agentId, text) });
  jsonOf(sent);
  const semantic = { type: "semantic", criteria: ["Says to whom it writes"] };
  const tried = async (test: object) => {
    const { id } = await makeTest(ownerOf(project), agentId, { assertions: [semantic], ...test });
    const { body } = await service.client
      .post(`/api/agents/${agentId}/backtests`, { testId: id, traces: 10, judge: true })
      .expect(201);
    await eventually(async () =>
      assert.equal((await service.read(`/api/backtests/${body.id}`)).state, "completed"),
    );
    const [result] = (await service.read(`/api/backtests/${body.id}/results`)).items;
    return result!;
  };
  const failed = await tried({ passiveBehavior: "always_run" });
  const skipped = await tried({ passiveBehavior: "run_when_relevant", scenario: "Asks about the weather" });
  for (const { reason, reasonRedactions } of [failed, skipped]) {
    const at = reason.indexOf("[email]");
    assert.ok(at > 0 && reason.includes(said), reason);
    assert.deepEqual(reasonRedactions, [{ rule: "email", places: [[at, at + 7]] }]);
  }
  // The judge's calls of an evaluation, and of a project that redacts for the judge alone.
  for (const [own, settings] of [
    [project, null],
    [await makePrivateProject(service, { judgeRules: ["email"] }), { judgeRules: ["email"] }],
  ] as const) {
    await service.client.put(`/api/projects/${own.projectId}/judge`, connection).expect(200);
    const assertions = [{ type: "semantic", criteria: ["Greets"] }];
    await makeTest(ownerOf(own), own.agentId, { passiveBehavior: "always_run", assertions });
    const traceId = traceIdOf(
      await send({ url: service.url, key: own.key }, { body: canonicalTrace(own.agentId, text) }),
    );
    const run = await eventually(async () => {
      const found = (await service.read(`/api/traces/${traceId}`)).runs[0];
      assert.equal(found!.state, "completed");
      return found;
    });
    const calls = (await service.read(`/api/runs/${run!.id}/calls`)).items.filter(
      ({ kind }) => kind === "semantic",
    );
    assert.ok(calls.length > 0);
    for (const { material, materialRedactions, answerRedactions } of calls) {
      const shown = materialRedactions.map(({ rule, places }) => [
        rule,
        [...new Set(places.map(([from, to]: [number, number]) => material.slice(from, to)))],
        places.length === material.split("[email]").length - 1,
      ]);
      assert.deepEqual(shown, [["email", ["[email]"], true]], JSON.stringify(settings));
      assert.deepEqual(
        answerRedactions.map(({ rule }) => rule),
        ["email"],
      );
    }
  }
  const { body } = await service.client
    .post(`/api/agents/${agentId}/tests/try-scenario`, { scenario: "Asks for a letter", estimate: false })
    .expect(200);
  const { input, redactions, reason, reasonRedactions } = body.items[0]!;
  assert.equal(input, "Write to [email]. What does [order] mean?");
  assert.deepEqual(redactions, [{ rule: "email", places: [[9, 16]] }]);
  assert.equal(reason, said);
  assert.deepEqual(reasonRedactions, [{ rule: "email", places: [[24, 31]] }]);
});
