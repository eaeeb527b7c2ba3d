// Whatever a judge does wrong, with every provider: a check is judged later or skipped with the reason, never decided.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import type { JudgeProvider } from "../../src/model/judge/call.ts";
import { eventually } from "../support/eventually.ts";
import { type FinalFault, finalFaults, passingFaults } from "../support/judge-faults.ts";
import { askedOf, obliging, silence, startJudgeServer, usage } from "../support/judge-server.ts";
import {
  checksOf,
  type JudgedProject,
  modelOf,
  openJudgedProject,
  plain,
  semantic,
} from "../support/judged-project.ts";
import { startTestService, type TestService } from "../support/service.ts";

const providers: JudgeProvider[] = ["openai", "anthropic", "google"];
// Each test has its own judge and project.
const sideBySide = { concurrency: 6 };

/** One waits long for the judge, the other only briefly. */
let patient: TestService;
let brief: TestService;
before(async () => {
  [patient, brief] = await Promise.all([
    startTestService({ config: { judgeDeadlineMs: 120_000 } }),
    startTestService({ config: { judgeDeadlineMs: 8_000 } }),
  ]);
});
after(async () => {
  await Promise.all([patient?.stop(), brief?.stop()]);
});

/** A test that always runs, and one whose scenario the judge must match. */
async function makeTests(project: JudgedProject): Promise<{ conditional: string }> {
  await project.test({ assertions: [plain, semantic] });
  const scenario = "The user asks for a parcel.";
  const fields = { passiveBehavior: "run_when_relevant", scenario, assertions: [plain, semantic] };
  return { conditional: await project.test(fields) };
}

/** What a run shows if every question met the fault. */
async function assertUnjudged(
  project: JudgedProject,
  traceId: string,
  conditional: string,
  { code, reason }: { code: string; reason: RegExp },
) {
  const trace = await project.judged(traceId);
  const [run] = trace.runs;
  assert.deepEqual(checksOf(run), [
    ["plain", "passed"],
    ["judged", code],
  ]);
  const [, judged] = run!.results[0]!.checks;
  assert.deepEqual([judged!.outcome, judged!.actual, judged!.score ?? null], ["skipped", null, null]);
  assert.match(judged!.reason, reason);
  assert.deepEqual(
    [run!.routing, run!.verdict, run!.score, run!.waiting, run!.results.length],
    ["unavailable", "passed", 1, null, 1],
  );
  assert.deepEqual(run!.counts, { passed: 1, failed: 0, skipped: 0, missing_instrumentation: 0 });
  const why = trace.tests.find(({ testId }) => testId === conditional);
  assert.deepEqual([why!.applied, why!.why], [false, "routing_unavailable"]);
  assert.match(why!.reason!, reason);
  assert.ok(trace.notices.includes("routing_unavailable"));
  return trace;
}

/** The calls that the API lists, sums and counts are those that the server received. */
async function assertCalls(project: JudgedProject, traceId: string, states: string[], metered: boolean) {
  const calls = await project.calls(traceId);
  assert.deepEqual(
    calls.map(({ state }) => state),
    states,
  );
  assert.equal(project.server.requests.length, states.length);
  const { judging } = (await project.trace(traceId)).runs[0]!;
  const tokens = metered ? states.length : 0;
  assert.deepEqual(
    [judging!.calls, judging!.inputTokens, judging!.outputTokens],
    [states.length, tokens * usage.prompt_tokens, tokens * usage.completion_tokens],
  );
  for (const call of calls) assert.equal(call.reason === null, call.state === "ok");
}

for (const provider of providers) {
  suite(`a judge at ${provider} with a temporary fault`, sideBySide, () => {
    for (const { name, reply, state, reason } of passingFaults) {
      test(`${name}: the run waits, shows partial results, and is fully judged once the judge answers`, async () => {
        const project = await openJudgedProject(patient, { provider, script: request => reply(request) });
        await makeTests(project);
        const traceId = await project.converse();
        const [run] = (await project.waiting(traceId)).runs;
        assert.match(run!.waiting!.reason, reason);
        assert.ok(Date.parse(run!.waiting!.nextTryAt) < Date.parse(run!.waiting!.until));
        assert.deepEqual([run!.state, run!.verdict], ["running", null]);
        assert.deepEqual(checksOf(run), [
          ["plain", "passed"],
          ["judged", "waiting"],
        ]);
        project.server.script = obliging();
        const trace = await project.judged(traceId);
        const [ended] = trace.runs;
        assert.deepEqual(
          [ended!.id, ended!.routing, ended!.verdict, ended!.outage, ended!.waiting],
          [run!.id, "ok", "passed", false, null],
        );
        assert.equal(ended!.results.length, 2);
        const states = (await project.calls(traceId)).map(call => call.state);
        assert.deepEqual(states.slice(-2), ["ok", "ok"]);
        assert.deepEqual(new Set(states.slice(0, -2)), new Set([state]));
        assert.equal(project.server.requests.length, states.length);
      });
    }

    test("503 until the deadline: skipped, with the reason and the number of tries", async () => {
      const fault = passingFaults.find(({ name }) => name === "503")!;
      const project = await openJudgedProject(brief, { provider, script: request => fault.reply(request) });
      const { conditional } = await makeTests(project);
      const traceId = await project.converse();
      const reason = /^The judge answered with status 503 \(\d tries\)\.$/;
      const trace = await assertUnjudged(project, traceId, conditional, {
        code: "judge_unavailable",
        reason,
      });
      assert.equal(trace.runs[0]!.outage, true);
      const tries = Number(/(\d) tries/.exec(trace.runs[0]!.results[0]!.checks[1]!.reason)![1]);
      // Every try asks about scenarios. After the last one, the other questions are tried as long as there is time.
      const calls = await project.calls(traceId);
      const kinds = calls.map(({ kind }) => kind);
      assert.equal(kinds.filter(kind => kind === "route").length, tries);
      const replies = kinds.length - tries;
      assert.ok(replies >= 1 && replies <= tries, `${replies} calls about replies in ${tries} tries`);
      await assertCalls(project, traceId, Array(calls.length).fill("later"), false);
    });
  });

  suite(`a judge at ${provider} with a permanent fault`, sideBySide, () => {
    for (const fault of finalFaults) {
      test(`${fault.name}: the judge's checks are skipped immediately, and nothing else`, async () => {
        const script = (request: Parameters<FinalFault["reply"]>[0]) => fault.reply(request);
        const project = await openJudgedProject(patient, { provider, script });
        const { conditional } = await makeTests(project);
        const traceId = await project.converse();
        const trace = await assertUnjudged(project, traceId, conditional, fault);
        assert.equal(trace.runs[0]!.outage, true);
        const outages = await patient.client.read(`/api/agents/${project.agentId}/outages`);
        assert.equal(outages.traces, 1);
        const count = fault.calls * (fault.stops ? 1 : 2);
        await assertCalls(project, traceId, Array(count).fill(fault.state), fault.metered === true);
      });
    }
  });
}

suite("a judge that matches scenarios but fails at replies", sideBySide, () => {
  for (const fault of finalFaults) {
    test(`${fault.name}: the matched tests run, and their checks of replies are skipped`, async () => {
      const answer = obliging();
      const project = await openJudgedProject(patient, {
        script: (request, index) =>
          askedOf(request).kind === "route" ? answer(request, index) : fault.reply(request),
      });
      await makeTests(project);
      const traceId = await project.converse();
      const [run] = (await project.judged(traceId)).runs;
      assert.deepEqual([run!.routing, run!.verdict, run!.results.length], ["ok", "passed", 2]);
      for (const { checks } of run!.results) {
        assert.deepEqual(
          checks.map(check => check.skipped ?? check.outcome),
          ["passed", fault.code],
        );
        assert.match(checks[1]!.reason, fault.reason);
      }
    });
  }
});

suite("a judge that hangs", sideBySide, () => {
  for (const provider of providers) {
    test(`at ${provider}: results without the judge are shown immediately, and the rest once it answers`, async () => {
      const held = Promise.withResolvers<void>();
      const answer = obliging();
      const project = await openJudgedProject(patient, {
        provider,
        script: async (request, index) => {
          await held.promise;
          return answer(request, index);
        },
      });
      await project.test({ assertions: [plain, semantic] });
      const traceId = await project.converse();
      await eventually(async () => {
        const [run] = (await project.trace(traceId)).runs;
        assert.equal(run!.state, "running");
        assert.deepEqual(checksOf(run), [
          ["plain", "passed"],
          ["judged", "waiting"],
        ]);
        assert.equal(run!.results[0]!.checks[1]!.reason, "The judge has not answered yet.");
      });
      held.resolve();
      const [run] = (await project.judged(traceId)).runs;
      assert.deepEqual(checksOf(run), [
        ["plain", "passed"],
        ["judged", "passed"],
      ]);
    });

    test(`at ${provider}: what it has not answered is skipped at the deadline`, async () => {
      const server = await startJudgeServer(() => silence);
      const judge = server.connection({ provider, model: modelOf[provider], timeoutMs: 1_500 });
      const service = await startTestService({ config: { judge, judgeDeadlineMs: 2_000 } });
      const project = await openJudgedProject(service);
      await service.client.delete(`/api/projects/${project.projectId}/judge`).expect(204);
      await project.test({ assertions: [plain, semantic] });
      const traceId = await project.converse();
      const [run] = (await project.judged(traceId)).runs;
      assert.deepEqual(checksOf(run), [
        ["plain", "passed"],
        ["judged", "judge_unavailable"],
      ]);
      assert.match(run!.results[0]!.checks[1]!.reason, /^The judge did not answer in time/);
      assert.deepEqual([run!.verdict, run!.outage], ["passed", true]);
      const calls = await project.calls(traceId);
      assert.deepEqual(new Set(calls.map(({ state }) => state)), new Set(["later"]));
      assert.equal(calls.length, server.requests.length);
      await Promise.all([service.stop(), server.close()]);
    });
  }
});
