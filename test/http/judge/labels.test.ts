// Labels of the judge's answers over the API: saved, changed, deleted, compared by judge and test, and exported.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import pg from "pg";
import { tryLabels as tryLabelsWith } from "../../../src/editor/try-labels.ts";
import type { VerdictWord } from "../../../src/model/judge/call.ts";
import { systemClock } from "../../../src/remote/clock.ts";
import { deleteLabel } from "../../../src/store/judge/labels.ts";
import { sendJson, startAgentServer } from "../../support/agent-server.ts";
import { eventually } from "../../support/eventually.ts";
import { obliging, refusal } from "../../support/judge-server.ts";
import {
  type JudgedProject,
  openJudgedProject,
  plain,
  said,
  semantic,
  userInput,
} from "../../support/judged-project.ts";
import { world } from "../../support/world.ts";

const service = world();

const scenario = "The user asks where a parcel is.";

/** An evaluated conversation of a project whose judge says "match" and "met". */
async function evaluated(reply?: string) {
  const project = await openJudgedProject(service);
  const testId = await project.test({
    assertions: [plain, { ...semantic, depends_on: ["plain"] }],
    passiveBehavior: "run_when_relevant",
    scenario,
  });
  const traceId = await project.converse(reply);
  const [run] = (await project.judged(traceId)).runs;
  return { project, testId, traceId, runId: run!.id as string };
}

const put = async <S extends number = 200>(runId: string, body: object, status = 200 as S) =>
  (await service.client.put(`/api/runs/${runId}/labels`, body).expect(status)).body;

async function me() {
  const { id, name } = (await service.client.read("/api/auth/get-session"))!.user;
  return { id, name };
}

test("a label says what the judge said, by which judge and version, and can be changed and deleted", async () => {
  const { project, testId, traceId, runId } = await evaluated();
  const label = await put(runId, { testId, checkId: "judged", answer: "fail", note: " No date. " });
  const { id, promptVersion, createdAt, updatedAt, ...rest } = label;
  assert.deepEqual(rest, {
    ...{ agentId: project.agentId, testId, traceId, runId, checkId: "judged" },
    ...{ judged: "pass", answer: "fail", agrees: false, note: "No date.", testVersion: 1, repeatable: true },
    ...{ createdBy: await me(), disputed: false },
    ...{ provider: "openai_compatible", model: "local-model" },
  });
  assert.ok(promptVersion && createdAt && updatedAt);

  const changed = await put(runId, { testId, checkId: "judged", answer: "pass" });
  assert.deepEqual([changed.id, changed.agrees, changed.note], [id, true, ""]);
  const match = await put(runId, { testId, checkId: null, answer: "no_match" });
  assert.deepEqual([match.judged, match.agrees, match.provider], ["match", false, "openai_compatible"]);
  const { items } = await service.client.read(`/api/runs/${runId}/labels`);
  assert.deepEqual(
    items.map(item => item.checkId),
    ["judged", null],
  );
  await service.client.delete(`/api/labels/${id}`).expect(204);
  assert.deepEqual((await service.client.read(`/api/runs/${runId}/labels`)).items, [match]);
});

test("only what the judge decided can be labeled, by an answer of its kind", async () => {
  const { testId, runId } = await evaluated();
  await put(runId, { testId, checkId: "plain", answer: "fail" }, 404);
  await put(runId, { testId, checkId: "unknown", answer: "fail" }, 404);
  await put(runId, { testId: runId, checkId: null, answer: "match" }, 404);
  const { issues } = await put(runId, { testId, checkId: "judged", answer: "match" }, 400);
  assert.deepEqual(issues, [{ path: "answer", message: "Must be pass or fail." }]);
  await put(runId, { testId, checkId: null, answer: "fail" }, 400);
  await put(runId, { testId, checkId: null, answer: "match", note: "x".repeat(2_001) }, 400);
});

const agreementOf = (project: JudgedProject, query = "" as `?${string}` | "") =>
  service.client.read(`/api/projects/${project.projectId}/agreement${query}`);

/** New traces, each with a question to the judge and a label. */
async function labeled(
  project: JudgedProject,
  testId: string,
  labels: { answer: string; verdict?: VerdictWord }[],
) {
  for (const { answer, verdict = "met" } of labels) {
    project.server.script = obliging({ verdict: () => verdict });
    const traceId = await project.converse(`In Lyon, says ${randomUUID()}.`);
    const [run] = (await project.judged(traceId)).runs;
    await put(run!.id, { testId, checkId: "judged", answer });
  }
}

test("agreement is counted for checks and scenarios apart, by judge and by test, with its interval", async () => {
  const { project, testId, runId } = await evaluated();
  project.server.script = obliging({ label: () => "unsure", verdict: () => "not_met" });
  const [run] = (await project.judged(await project.converse("In Lyon.", "Has my parcel left?"))).runs;
  await put(runId, { testId, checkId: "judged", answer: "pass" });
  await put(runId, { testId, checkId: null, answer: "no_match" });
  await put(run!.id, { testId, checkId: "judged", answer: "fail" });
  await put(run!.id, { testId, checkId: null, answer: "match" });
  // As if another model had judged it; the service notices a new one within a second.
  await service.db.pool.query("update labels set model = 'other-model' where run_id = $1", [run!.id]);
  const { checks, scenarios } = await agreementOf(project);
  assert.deepEqual([checks.labels, checks.agreed, checks.share, checks.decidedShare], [2, 2, 1, 1]);
  assert.deepEqual([scenarios.labels, scenarios.agreed, scenarios.share], [2, 1, 0.5]);
  assert.deepEqual([scenarios.low!.toFixed(3), scenarios.high!.toFixed(3)], ["0.095", "0.905"]);
  assert.deepEqual([scenarios.falseMatch.share, scenarios.falseNoMatch.share], [1, 0]);
  assert.deepEqual(
    scenarios.judges.map(judge => [judge.model, judge.agreed, judge.labels]),
    [
      ["other-model", 1, 1],
      ["local-model", 0, 1],
    ],
  );
  assert.deepEqual(
    checks.tests.map(one => [one.testId, one.testVersion, one.checkId, one.labels]),
    [[testId, 1, "judged", 2]],
  );
  const confusionOf = ({ confusion }: Pick<typeof checks, "confusion">) =>
    confusion.map(({ judged, answer, count }) => `${judged} ${answer} ${count}`).toSorted();
  assert.deepEqual(confusionOf(checks), ["fail fail 1", "pass pass 1"]);
  assert.deepEqual(confusionOf(scenarios), ["match no_match 1", "unsure match 1"]);
  const wrong = await service.client.read(
    `/api/projects/${project.projectId}/labels?agrees=false&testId=${testId}`,
  );
  assert.deepEqual(
    wrong.items.map(item => [item.runId, item.checkId, item.userInput]),
    [[runId, null, userInput]],
  );
  const none = await agreementOf(project, `?agentId=${testId}`);
  assert.deepEqual([none.checks.labels, none.checks.share, none.scenarios.tests], [0, null, []]);
});

test("an answer that traces got from the cache counts once; an edited test's answers are counted apart", async () => {
  const { project, testId, runId } = await evaluated();
  await put(runId, { testId, checkId: "judged", answer: "pass" });
  const runOf = async () => (await project.judged(await project.converse())).runs[0]!.id;
  const [again, third] = [await runOf(), await runOf()];
  await put(again, { testId, checkId: "judged", answer: "fail" });
  await put(third, { testId, checkId: null, answer: "match" });
  // The latest label of this person counts.
  assert.deepEqual((await agreementOf(project)).checks.confusion, [
    { judged: "pass", answer: "fail", count: 1 },
  ]);
  await put(third, { testId, checkId: "judged", answer: "pass" });
  const { checks } = await agreementOf(project);
  assert.deepEqual([checks.labels, checks.agreed, checks.disputed], [1, 1, 0]);
  assert.equal((await setOf(project)).labels.length, 2);

  const assertions = [plain, { ...semantic, criteria: "Says when it arrives." }];
  await service.client.patch(`/api/tests/${testId}`, { assertions }).expect(200);
  const edited = await runOf();
  await put(edited, { testId, checkId: "judged", answer: "pass" });
  assert.deepEqual(
    (await agreementOf(project)).checks.tests.map(one => [one.testVersion, one.labels]),
    [
      [2, 1],
      [1, 1],
    ],
  );
});

test("several people label an answer: the majority counts, a tie counts nowhere, and both show that they disagree", async () => {
  const { project, testId, runId } = await evaluated();
  const body = { testId, checkId: "judged" };
  const mine = await put(runId, { ...body, answer: "pass" });
  const asSomebody = async (name: string, answer: "pass" | "fail") => {
    const { accountId } = await service.signUp();
    await service.db.pool.query("update accounts set name = $2 where id = $1", [accountId, name]);
    const { rows } = await service.db.pool.query(
      `insert into labels select (jsonb_populate_record(l, jsonb_build_object('id', gen_random_uuid(), 'created_by', $2::text,
        'answer', $3::text, 'agrees', $3::text = judged))).* from labels l where id = $1 returning id`,
      [mine.id, accountId, answer],
    );
    return rows[0].id as string;
  };
  const ann = await asSomebody("Ann", "fail");
  const tied = (await agreementOf(project)).checks;
  assert.deepEqual([tied.labels, tied.disputed, tied.confusion], [0, 1, []]);
  const { items } = await service.client.read(`/api/runs/${runId}/labels`);
  assert.deepEqual(
    items.map(({ createdBy, answer, disputed }) => [createdBy?.name, answer, disputed]).toSorted(),
    [
      ["Ann", "fail", true],
      [(await me()).name, "pass", true],
    ].toSorted(),
  );
  const changed = await put(runId, { ...body, answer: "pass", note: "Still." });
  assert.deepEqual([changed.id, changed.disputed], [mine.id, true]);
  await asSomebody("Bea", "pass");
  const decided = (await agreementOf(project)).checks;
  assert.deepEqual([decided.labels, decided.agreed, decided.disputed], [1, 1, 1]);
  const disputed = await service.client.read(`/api/projects/${project.projectId}/labels?disputed=true`);
  assert.equal(disputed.items.length, 3);
  await service.client.delete(`/api/labels/${ann}`).expect(204);
  assert.equal((await agreementOf(project)).checks.disputed, 0);
});

test("from ten labels of each answer, the live pass rate of a check is corrected for the present judge's errors", async () => {
  const project = await openJudgedProject(service);
  const testId = await project.test({ assertions: [semantic] });
  const row = async () => (await agreementOf(project)).checks.tests[0]!;
  const few = Array.from({ length: 9 }, () => ({ answer: "fail", verdict: "not_met" as const }));
  const passes = Array.from({ length: 10 }, () => ({ answer: "pass" }));
  await labeled(project, testId, [...few, ...passes]);
  assert.deepEqual((await row()).passRate, {
    ...{ passed: 10, failed: 9, rate: 10 / 19, corrected: null, uncorrected: "too_few_labels" },
  });
  await labeled(project, testId, [{ answer: "fail" }]);
  const { falsePass, falseFail, passRate } = await row();
  assert.deepEqual([falsePass.count, falsePass.of, falseFail.count, falseFail.of], [1, 10, 0, 10]);
  const { corrected, ...rest } = passRate;
  assert.deepEqual(rest, { passed: 11, failed: 9, rate: 11 / 20, uncorrected: null });
  assert.equal(corrected!.rate.toFixed(3), "0.500");
  assert.ok(corrected!.low < 0.4 && corrected!.high > 0.6);
  const insights = `/api/agents/${project.agentId}/insights?by=check` as const;
  assert.deepEqual((await service.client.read(insights)).series[0]!.corrected, corrected);
  // Nothing is known of the errors of another judge.
  await project.connect({ model: "another" });
  assert.equal((await row()).passRate.uncorrected, "too_few_labels");
  assert.equal((await service.client.read(insights)).series[0]!.corrected, null);
});

test("a check that the judge could not decide is labeled by what it should be, and counted apart", async () => {
  const { project, testId, runId } = await evaluated();
  await put(runId, { testId, checkId: "judged", answer: "pass" });
  project.server.script = obliging({ verdict: () => "cannot_tell" });
  const [run] = (await project.judged(await project.converse("In Lyon.", "Has my parcel left?"))).runs;
  const label = await put(run!.id, { testId, checkId: "judged", answer: "fail" });
  assert.deepEqual([label.judged, label.agrees, label.repeatable], ["undecided", null, true]);
  assert.deepEqual([label.provider, label.model], ["openai_compatible", "local-model"]);
  const { checks } = await agreementOf(project);
  assert.deepEqual([checks.labels, checks.agreed, checks.undecided, checks.judges.length], [1, 1, 1, 1]);
  assert.equal(checks.decidedShare, 0.5);
  const wrong = await service.client.read(`/api/projects/${project.projectId}/labels?agrees=false`);
  assert.deepEqual(wrong.items, []);

  project.server.script = obliging({ verdict: () => "not_met" });
  const { url: at } = project.server;
  const connection = { provider: "openai_compatible", url: at, model: "another" };
  const { items } = await tryLabels(project, { connection });
  const [tried] = items.filter(item => item.judged === "undecided");
  assert.deepEqual([tried!.now, tried!.changed], ["fail", true]);
});

test("a check whose judge was unavailable cannot be labeled", async () => {
  const { project, testId } = await evaluated();
  project.server.script = () => refusal(400);
  const [run] = (await project.judged(await project.converse("In Lyon.", "Has my parcel left?"))).runs;
  await put(run!.id, { testId, checkId: "judged", answer: "fail" }, 404);
});

test("the semantic checks of a manual run are labeled, with what was received as the question of a single turn", async () => {
  const project = await openJudgedProject(service);
  const server = await startAgentServer((_, response) => sendJson(response, { reply: "It is in Lyon." }));
  try {
    await service.client
      .put(`/api/agents/${project.agentId}/connection`, {
        ...{ type: "http_api", url: server.url, bodyTemplate: '{"message":"{{input}}"}' },
        reply: { kind: "json", pointer: "/reply" },
        waitMs: 0,
      })
      .expect(200);
    for (const turns of [1, 2]) {
      const testId = await project.test({
        assertions: [semantic],
        passiveBehavior: "manual_only",
        turns: Array.from({ length: turns }, (_, at) => ({ input: `Where is parcel ${at}?` })),
      });
      const launches = `/api/agents/${project.agentId}/launches` as const;
      const { body: made } = await service.client.post(launches, { testIds: [testId] }).expect(201);
      const launch = await eventually(async () => {
        const found = await service.client.read(`/api/launches/${made.id}`);
        assert.notEqual(found.finishedAt, null);
        return found;
      });
      const runId: string = launch.runs[0]!.id;
      const label = await put(runId, { testId, checkId: "judged", answer: "fail" });
      // Of several turns, the question would quote traces that the label is not deleted with.
      assert.deepEqual([label.judged, label.agrees, label.repeatable], ["pass", false, turns === 1]);
      await put(runId, { testId, checkId: null, answer: "match" }, 404);
    }
    const { labels } = await setOf(project);
    assert.deepEqual(
      labels.map(({ question }) => question.kind === "check" && question.questions[0]!.response),
      ["It is in Lyon."],
    );
  } finally {
    await server.close();
  }
});

const setOf = (project: JudgedProject) =>
  service.client.read(`/api/projects/${project.projectId}/labels/set`);

test("a set has what the judge was asked, in pages, and goes with the trace", async () => {
  const { project, testId, traceId, runId } = await evaluated();
  await put(runId, { testId, checkId: "judged", answer: "fail", note: "Wrong city." });
  await put(runId, { testId, checkId: null, answer: "match" });
  const { kind, labels, nextCursor } = await setOf(project);
  assert.deepEqual([kind, labels.length, nextCursor], ["labels", 2, null]);
  const [match, check] = labels;
  assert.deepEqual(match!.question, { kind: "scenario", scenario, userInput });
  assert.deepEqual([check!.judged, check!.answer, check!.note], ["pass", "fail", "Wrong city."]);
  assert.ok(check!.question.kind === "check");
  const { questions, threshold, negate } = check!.question;
  assert.deepEqual([questions.length, threshold, negate], [1, 0.7, false]);
  assert.deepEqual([questions[0]!.response, questions[0]!.criteria], [said, [semantic.criteria]]);
  const path = `/api/projects/${project.projectId}/labels/set?limit=1` as const;
  const first = await service.client.read(path);
  const second = await service.client.read(`${path}&cursor=${first.nextCursor}`);
  assert.deepEqual([...first.labels, ...second.labels], labels);
  assert.equal(second.nextCursor, null);
  await service.client.delete(`/api/traces/${traceId}`).expect(204);
  assert.deepEqual((await setOf(project)).labels, []);
  assert.equal((await agreementOf(project)).checks.labels, 0);
});

test("a label on a trace that has changed since counts, but cannot be asked again", async () => {
  const { project, testId, traceId, runId } = await evaluated();
  await service.db.pool.query("update traces set revision = revision + 1 where id = $1", [traceId]);
  const label = await put(runId, { testId, checkId: "judged", answer: "pass" });
  assert.deepEqual([label.repeatable, traceId === label.traceId], [false, true]);
  assert.deepEqual((await setOf(project)).labels, []);
  assert.equal((await agreementOf(project)).checks.labels, 1);
});

const tryLabels = async <S extends number = 200>(project: JudgedProject, body: object, status = 200 as S) =>
  (await service.client.post(`/api/projects/${project.projectId}/labels/try`, body).expect(status)).body;

test("a judge that is not saved is tried on all labels, in pages, and says what it would change", async () => {
  const { project, testId, runId } = await evaluated();
  await put(runId, { testId, checkId: "judged", answer: "fail" });
  await put(runId, { testId, checkId: null, answer: "match" });
  const { server } = project;
  const asked = server.requests.length;
  server.script = obliging({ verdict: () => "not_met" });
  const other = { provider: "openai_compatible", url: server.url, model: "candidate", apiKey: "key-2" };
  const guess = await tryLabels(project, { connection: other, estimate: true });
  assert.deepEqual([guess.items, guess.labels, server.requests.length], [[], 2, asked]);
  assert.deepEqual(
    [guess.estimate!.calls, guess.estimate!.atMost.calls, guess.estimate!.costUsd],
    [2, 5, null],
  );
  const first = await tryLabels(project, { connection: other, limit: 1 });
  const second = await tryLabels(project, { connection: other, limit: 1, cursor: first.nextCursor });
  assert.deepEqual(
    [...first.items, ...second.items].map(({ checkId, judged, now, changed }) => [
      ...[checkId, judged, now, changed],
    ]),
    [
      [null, "match", "match", false],
      ["judged", "pass", "fail", true],
    ],
  );
  assert.deepEqual([second.nextCursor, second.unavailable], [null, null]);
  const requests = server.requests.slice(asked);
  assert.ok(requests.length >= 2);
  assert.ok(requests.every(one => one.model === "candidate" && one.headers.authorization === "Bearer key-2"));
  // The project's own judge has not changed, and its answers are known.
  const own = await tryLabels(project, {});
  assert.deepEqual(
    own.items.map(({ now, changed }) => [now, changed]),
    [
      ["match", false],
      ["pass", false],
    ],
  );
  assert.equal(server.requests.length, asked + requests.length);
  const { labels } = await setOf(project);
  assert.deepEqual(
    labels.map(label => label.model),
    ["local-model", "local-model"],
  );
});

test("a label that is deleted while a page is read does not end the pages", async t => {
  const { project, testId, runId } = await evaluated();
  const putNewer = () => put(runId, { testId, checkId: null, answer: "match" });
  await put(runId, { testId, checkId: "judged", answer: "fail" });
  let newer = await putNewer();
  let deletions = 0;
  const { query } = pg.Client.prototype;
  t.mock.method(pg.Client.prototype, "query", function (this: pg.Client, ...asked: unknown[]) {
    const { name, values } = asked[0] as pg.QueryConfig;
    const pass = () => Reflect.apply(query, this, asked);
    // On a cluster, the name says which shards are meant.
    if (!name?.startsWith("label-question") || values?.[1] !== newer.id) return pass();
    deletions += 1;
    return deleteLabel(service.db, newer.id).then(pass);
  });
  const path = `/api/projects/${project.projectId}/labels/set?limit=1` as const;
  const first = await service.client.read(path);
  assert.deepEqual(first.labels, []);
  const second = await service.client.read(`${path}&cursor=${first.nextCursor}`);
  assert.deepEqual([second.labels.length, second.labels[0]!.checkId, second.nextCursor], [1, "judged", null]);

  newer = await putNewer();
  const unasked = () => assert.fail("the judge was asked");
  const tried = await tryLabelsWith(
    { db: service.db, judgeOf: unasked, clock: systemClock },
    { projectId: project.projectId, connection: null, count: 1, estimate: false },
    new AbortController().signal,
  );
  assert.deepEqual([tried.items, tried.labels, tried.last], [[], 0, newer.id]);
  assert.equal(deletions, 2);
});

test("a judge that cannot be asked ends the trial with the reason, and a wrong connection is named", async () => {
  const { project, testId, runId } = await evaluated();
  await put(runId, { testId, checkId: "judged", answer: "fail" });
  const other = {
    provider: "openai_compatible",
    url: project.server.url,
    model: "candidate",
    apiKey: "key-2",
  };
  const { issues } = await tryLabels(project, { connection: { ...other, model: "" } }, 400);
  assert.equal(issues![0]!.path, "model");
  project.server.script = () => refusal(401);
  const { items, nextCursor, unavailable } = await tryLabels(project, { connection: other });
  assert.deepEqual([items, nextCursor], [[], null]);
  assert.match(unavailable!, /401/);
});
