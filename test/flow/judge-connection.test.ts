// Editing a judge's connection: runs continue with the new one, a pause ends, and the key is sent to no other server.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import {
  type JudgeRequest,
  json,
  obliging,
  type Reply,
  refusal,
  type Script,
} from "../support/judge-server.ts";
import {
  checksOf,
  type JudgedProject,
  openJudgedProject,
  plain,
  semantic,
} from "../support/judged-project.ts";
import { world } from "../support/world.ts";

const sideBySide = { concurrency: 4 };
const lost = "sk-lost-5d2c81";
const good = "sk-good-90b7ae";

const service = world();

const bears = ({ headers }: JudgeRequest, key: string) => headers.authorization === `Bearer ${key}`;

/** Answers requests with the good key, and rejects others with this reply. */
const guarded = (otherwise: Reply): Script => {
  const answer = obliging();
  return (request, index) => (bears(request, good) ? answer(request, index) : otherwise);
};

suite("a judge connection", sideBySide, () => {
  test("that is edited while a run waits is asked next, and the same run is fully judged", async () => {
    const project = await openJudgedProject(service, { apiKey: lost, script: guarded(refusal(503)) });
    await project.test({ assertions: [plain, semantic] });
    const traceId = await project.converse();
    const [before] = (await project.waiting(traceId)).runs;
    await project.connect({ apiKey: good });
    const [run] = (await project.judged(traceId)).runs;
    assert.deepEqual([run!.id, run!.verdict, run!.outage], [before!.id, "passed", false]);
    assert.ok(bears(project.server.requests.at(-1)!, good));
  });

  for (const [change, edit] of [
    ["edited", (project: JudgedProject) => project.connect({ apiKey: good })],
    ["tested with success", (project: JudgedProject) => project.testConnection()],
  ] as const) {
    test(`with a long Retry-After is asked immediately when it is ${change}`, async () => {
      const script = guarded(refusal(429, {}, { "retry-after": "600" }));
      const project = await openJudgedProject(service, { apiKey: lost, script });
      await project.test({ assertions: [plain, semantic] });
      const traceId = await project.converse();
      const [before] = (await project.waiting(traceId)).runs;
      assert.ok(Date.parse(before!.waiting!.nextTryAt) - Date.now() > 60_000);
      // An unchanged connection keeps its Retry-After.
      await project.connect();
      assert.deepEqual((await project.trace(traceId)).runs[0]!.waiting, before!.waiting);
      const settings = () => service.client.read(`/api/projects/${project.projectId}/judge`);
      const { waiting } = await settings();
      assert.match(waiting!.reason, /status 429 \(not called again for 10 min\)/);
      assert.ok(Math.abs(Date.parse(waiting!.until) - Date.now() - 600_000) < 60_000);
      if (change !== "edited") project.server.script = obliging();
      await edit(project);
      const [run] = (await project.judged(traceId)).runs;
      assert.deepEqual([run!.id, run!.verdict, run!.outage], [before!.id, "passed", false]);
      assert.equal((await settings()).waiting, null);
    });
  }

  test("gets no further run while it is paused: the request is rejected with the reason", async () => {
    const project = await openJudgedProject(service, { apiKey: lost, script: guarded(refusal(401)) });
    await project.test({ assertions: [plain, semantic] });
    const traceId = await project.converse();
    await project.judged(traceId);
    const path = `/api/agents/${project.agentId}/judge-again` as const;
    for (const body of [{}, { traceIds: [traceId] }]) {
      const answer = await service.client.post(path, body).expect(409);
      assert.deepEqual(
        [answer.body.code, answer.body.message],
        [
          "CONFLICT",
          "The judge is paused. The judge rejected the API key (401). Edit or test its connection to resume.",
        ],
      );
    }
    assert.equal((await project.trace(traceId)).runs.length, 1);
    await project.connect({ apiKey: good });
    assert.equal((await service.client.post(path, {}).expect(200)).body.scheduled, 1);
    await project.judged(traceId, 2);
  });

  test("with another model is used for the very next call", async () => {
    const project = await openJudgedProject(service);
    await project.test({ assertions: [semantic] });
    for (const model of ["model-a", "model-b", "model-c"]) {
      await project.connect({ model });
      await project.judged(await project.converse(`It is in Lyon, says ${model}.`));
      assert.equal(project.server.requests.at(-1)!.model, model);
    }
  });

  test("that is removed while a run waits leaves its checks skipped immediately, with the reason", async () => {
    const script = guarded(refusal(429, {}, { "retry-after": "600" }));
    const project = await openJudgedProject(service, { apiKey: lost, script });
    await project.test({ assertions: [plain, semantic] });
    const traceId = await project.converse();
    await project.waiting(traceId);
    await service.client.delete(`/api/projects/${project.projectId}/judge`).expect(204);
    const [run] = (await project.judged(traceId)).runs;
    assert.deepEqual(checksOf(run)[1], ["judged", "no_judge"]);
  });

  test("whose key is rejected is asked once and then paused; once edited, it judges the skipped checks", async () => {
    const project = await openJudgedProject(service, { apiKey: lost, script: guarded(refusal(401)) });
    const testId = await project.test({ assertions: [plain, semantic] });
    const first = await project.converse();
    await project.judged(first);
    const second = await project.converse("It came to Lyon.");
    const [skipped] = (await project.judged(second)).runs;
    assert.deepEqual(checksOf(skipped), [
      ["plain", "passed"],
      ["judged", "judge_unavailable"],
    ]);
    const rejected = "The judge rejected the API key (401).";
    const paused = `The judge is paused. ${rejected} Edit or test its connection to resume.`;
    assert.equal(skipped!.results[0]!.checks[1]!.reason, paused);
    assert.deepEqual([project.server.requests.length, await project.calls(second)], [1, []]);
    const judge = `/api/projects/${project.projectId}/judge` as const;
    assert.equal((await service.client.read(judge)).pausedReason, rejected);

    // Evaluated again with the tests as they were, though they have changed.
    const { name, passiveBehavior, turns } = await service.client.read(`/api/tests/${testId}`);
    const assertions = [plain, { ...semantic, criteria: "Offers a refund." }];
    await service.client
      .put(`/api/tests/${testId}`, { name, passiveBehavior, turns, assertions })
      .expect(200);
    await project.connect({ apiKey: good });
    assert.equal((await service.client.read(judge)).pausedReason, null);
    const outages = `/api/agents/${project.agentId}/outages` as const;
    assert.equal((await service.client.read(outages)).traces, 2);
    const again = await service.client.post(`/api/agents/${project.agentId}/judge-again`, {}).expect(200);
    assert.deepEqual(again.body, { scheduled: 2, left: 0, refused: [] });
    for (const traceId of [first, second]) {
      const { runs } = await project.judged(traceId, 2);
      assert.deepEqual(
        runs.map(run => [run.cause, run.verdict, run.outage, checksOf(run)[1]![1]]),
        [
          ["again", "passed", false, "passed"],
          ["traffic", "passed", false, "judge_unavailable"],
        ],
      );
      const [judged] = runs[0]!.results;
      assert.equal(judged!.testVersion, 1);
      const kept = judged!.test.assertions[1];
      assert.deepEqual(kept, { ...kept, criteria: semantic.criteria });
    }
    assert.equal((await service.client.read(outages)).traces, 0);
  });

  test("is no longer paused after a successful connection test", async () => {
    const project = await openJudgedProject(service, { apiKey: lost, script: guarded(refusal(401)) });
    await project.test({ assertions: [plain, semantic] });
    await project.judged(await project.converse());
    project.server.script = obliging({
      label: scenario => (/order is/.test(scenario) ? "match" : "no_match"),
    });
    await project.testConnection();
    const [run] = (await project.judged(await project.converse("It came to Lyon."))).runs;
    assert.deepEqual(checksOf(run)[1], ["judged", "passed"]);
  });

  test("sends its key only to the judge, even if the judge's server repeats it in every way", async () => {
    const echoes: Reply[] = [401, 400, 503, 500, 404].map(status =>
      refusal(status, { message: `Incorrect API key provided: ${good}.` }, { "x-key": good }),
    );
    echoes.push(json(200, { error: good, choices: good }));
    const seen: unknown[] = [];
    for (const echo of echoes) {
      const project = await openJudgedProject(service, { apiKey: good, script: () => echo });
      await project.test({ assertions: [plain, semantic] });
      const traceId = await project.converse();
      const state = echo === echoes[2] || echo === echoes[3] ? project.waiting : project.judged;
      seen.push(await state(traceId), await project.calls(traceId));
      const judge = `/api/projects/${project.projectId}/judge` as const;
      seen.push((await service.client.post(`${judge}/test`, {})).body, await service.client.read(judge));
      for (const { body } of project.server.requests) seen.push(body);
    }
    assert.ok(JSON.stringify(seen).includes("Incorrect") === false);
    assert.ok(!JSON.stringify(seen).includes(good));
    assert.ok(!service.logs.join("\n").includes(good));
    const { rows } = await service.db.pool.query<{ name: string }>(
      "select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
    );
    const hex = Buffer.from(good).toString("hex");
    assert.ok(rows.some(({ name }) => name === "judge_calls"));
    for (const { name } of rows) {
      const { rows: found } = await service.db.pool.query(
        `select 1 from "${name}" as one where one::text like $1 or one::text like $2`,
        [`%${good}%`, `%${hex}%`],
      );
      assert.equal(found.length, 0, name);
    }
  });
});
