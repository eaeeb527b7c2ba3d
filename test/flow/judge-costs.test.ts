// What judging costs, exactly: all sums equal the calls listed, and limits skip what they leave out.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { JudgeCall } from "../../src/http/judge/schemas.ts";
import type { Tally } from "../../src/http/projects/insights-schemas.ts";
import { eventually } from "../support/eventually.ts";
import { completion, obliging, usage } from "../support/judge-server.ts";
import { checksOf, modelOf, openJudgedProject, plain, semantic } from "../support/judged-project.ts";
import { world } from "../support/world.ts";

const sideBySide = { concurrency: 6 };
const tokensOfCall = usage.prompt_tokens + usage.completion_tokens;

const service = world();

const conditional = (scenario: string) => ({
  passiveBehavior: "run_when_relevant",
  scenario,
  assertions: [plain],
});
const numbered = (count: number) => Array.from({ length: count }, (_, at) => `Names fact ${at + 1}.`);

type JudgedTokens = { inputTokens: number; outputTokens: number; costUsd: number; unpricedTokens: number };

suite("the usage", sideBySide, () => {
  const sum = <T>(calls: T[], read: (call: T) => number) =>
    calls.reduce((total, call) => total + read(call), 0);

  for (const priced of [true, false]) {
    test(`of a run, a test, an agent and a day is the sum of its calls, with ${priced ? "a" : "no"} known price`, async () => {
      const project = await openJudgedProject(service);
      if (priced) {
        const price = {
          model: modelOf.openai_compatible,
          validFrom: "2026-01-01",
          inputUsd: 2,
          outputUsd: 10,
        };
        await service.client
          .put(`/api/projects/${project.projectId}/judge/prices`, { prices: [price] })
          .expect(200);
      }
      await project.test({ ...conditional("A parcel."), assertions: [semantic] });
      await project.test({ assertions: [{ ...semantic, criteria: numbered(6) }] });
      await project.test({ assertions: [{ ...semantic, criteria: ["One.", "Two.", "Three."] }] });
      const all: JudgeCall[] = [];
      for (const reply of ["It is in Lyon.", "It is in Bern."]) {
        const traceId = await project.converse(reply);
        const [run] = (await project.judged(traceId)).runs;
        const calls = await project.calls(traceId);
        all.push(...calls);
        const cost = sum(calls, call => call.costUsd ?? 0);
        assert.deepEqual(run!.judging, {
          calls: calls.length,
          inputTokens: sum(calls, call => call.inputTokens),
          outputTokens: sum(calls, call => call.outputTokens),
          costUsd: run!.judging!.costUsd,
          unpricedTokens: priced ? 0 : calls.length * tokensOfCall,
          estimatedTokens: 0,
        });
        assert.ok(Math.abs(run!.judging.costUsd - cost) < 1e-9);
      }
      const each = (usage.prompt_tokens * 2 + usage.completion_tokens * 10) / 1e6;
      for (const { costUsd } of all) assert.equal(costUsd, priced ? each : null);
      assert.equal(project.server.requests.length, all.length);

      const { days, tests } = await service.client.read(`/api/agents/${project.agentId}/judging`);
      const today = await service.client.read(`/api/agents/${project.agentId}/judge-settings`);
      for (const total of [days, tests] as JudgedTokens[][]) {
        for (const name of ["inputTokens", "outputTokens"] as const) {
          assert.ok(Math.abs(sum(total, day => day[name]) - sum(all, call => call[name] ?? 0)) < 1e-6, name);
        }
        assert.ok(Math.abs(sum(total, one => one.costUsd) - sum(all, call => call.costUsd ?? 0)) < 1e-9);
        const unpriced = priced ? 0 : all.length * tokensOfCall;
        assert.ok(Math.abs(sum(total, one => one.unpricedTokens) - unpriced) < 1e-6);
      }
      assert.equal(
        sum(days, day => day.calls),
        all.length,
      );
      // The second conversation has the first one's input, so its scenario match is cached. Counted a little later.
      await eventually(async () => {
        const [day] = (await service.client.read(`/api/agents/${project.agentId}/judging`)).days;
        assert.equal(day!.cached, 1);
      });
      assert.equal(today.today.calls, all.length);
    });
  }
});

suite("judging that is limited", sideBySide, () => {
  test("is skipped when the day's budget is used up, and does not count as an unavailable judge", async () => {
    const project = await openJudgedProject(service);
    const settings = { sampling: 1, budgetUsd: null, budgetTokens: 300 };
    await service.client.put(`/api/agents/${project.agentId}/judge-settings`, settings).expect(200);
    await project.test({ assertions: [plain, semantic] });
    const [first] = (await project.judged(await project.converse("It is in Lyon."))).runs;
    const [second] = (await project.judged(await project.converse("It came to Lyon."))).runs;
    assert.deepEqual(
      [first, second].map(run => checksOf(run).map(([, came]) => came)),
      [
        ["passed", "passed"],
        ["passed", "budget"],
      ],
    );
    assert.match(second!.results[0]!.checks[1]!.reason, /daily judge budget of 300 tokens is used up/);
    assert.deepEqual([second!.verdict, second!.outage, second!.judging], ["passed", false, null]);
    assert.equal(project.server.requests.length, 1);
  });

  test("is skipped by sampling, which says so, and asks nothing", async () => {
    const project = await openJudgedProject(service);
    const settings = { sampling: 0, budgetUsd: null, budgetTokens: null };
    await service.client.put(`/api/agents/${project.agentId}/judge-settings`, settings).expect(200);
    const testId = await project.test({ assertions: [plain, semantic] });
    const traceId = await project.converse();
    const [run] = (await project.judged(traceId)).runs;
    assert.deepEqual(checksOf(run), [
      ["plain", "passed"],
      ["judged", "not_sampled"],
    ]);
    assert.equal(run!.results[0]!.checks[1]!.reason, "Not sampled: 0% of this agent's traces are judged.");
    assert.deepEqual([run!.verdict, run!.outage, project.server.requests.length], ["passed", false, 0]);
    assert.deepEqual([run!.fullyEvaluated, run!.results[0]!.fullyEvaluated], [false, false]);

    // Then all are judged and fail: the passes before, of which the judge saw nothing, are in no pass rate.
    await service.client
      .put(`/api/agents/${project.agentId}/judge-settings`, { ...settings, sampling: 1 })
      .expect(200);
    project.server.script = obliging({ verdict: () => "not_met" });
    // The settings are read once a second.
    await delay(1_100);
    await project.judged(await project.converse("It is lost."));
    const none = { passed: 0, skipped: 0, missing_instrumentation: 0 };
    const counted: Tally = { counts: { ...none, failed: 1 }, notFullyEvaluated: 1, passRate: 0 };
    const about = ({ counts, notFullyEvaluated, passRate }: Tally) => ({
      ...{ counts, notFullyEvaluated, passRate },
    });
    const agentPath = `/api/agents/${project.agentId}` as const;
    assert.deepEqual(about((await service.client.read(`${agentPath}/insights`)).total!), counted);
    const ofTest = await service.client.read(`${agentPath}/insights?by=test`);
    assert.deepEqual(about(ofTest.series[0]!.points[0]!), counted);
    assert.deepEqual(about((await service.client.read(`${agentPath}/overview`)).results.now), counted);
    const idsOf = (path: string) =>
      service.client
        .read(`${agentPath}/traces?${path}` as "/api/agents/:id/traces")
        .then(({ items }) => items.map(({ id }) => id));
    assert.deepEqual(await idsOf("fullyEvaluated=false"), [traceId]);
    assert.deepEqual(await idsOf(`testId=${testId}&testOutcome=passed`), [traceId]);
    assert.deepEqual(await idsOf(`testId=${testId}&testOutcome=passed&fullyEvaluated=true`), []);
    const runs = await service.client.read(`/api/tests/${testId}/runs?outcome=passed&fullyEvaluated=false`);
    assert.deepEqual(
      runs.items.map(({ id }) => id),
      [run!.id],
    );
  });
});

suite("a call that fails among several", sideBySide, () => {
  test("leaves only its own scenarios without a match, each with the reason", async () => {
    let failed = false;
    const answer = obliging();
    const project = await openJudgedProject(service, {
      script: (request, index) => {
        if (failed) return answer(request, index);
        failed = true;
        return completion("", "content_filter");
      },
    });
    for (let at = 1; at <= 17; at++) await project.test(conditional(`Situation ${at}.`));
    const trace = await project.judged(await project.converse());
    const left = trace.tests.filter(({ why }) => why === "routing_unavailable");
    assert.ok([8, 9].includes(left.length));
    for (const { reason } of left) assert.match(reason!, /content filter/);
    const [run] = trace.runs;
    assert.deepEqual([run!.routing, run!.outage, run!.results.length], ["ok", true, 17 - left.length]);
  });
});
