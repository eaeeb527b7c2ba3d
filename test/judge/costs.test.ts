// What judging costs is kept call by call and bounded by day; what a sample leaves out is said to be left out.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, beforeEach, suite, test } from "node:test";
import type { Unanswered } from "../../src/model/judge/outcome.ts";
import { reasonText } from "../../src/model/run/reason-text.ts";
import { tokensOf } from "../../src/remote/judge/prompts.ts";
import { deleteAgent } from "../../src/store/accounts/agents.ts";
import { deleteProject } from "../../src/store/accounts/projects.ts";
import { openDatabase } from "../../src/store/db.ts";
import { deleteOldJudgeAnswers } from "../../src/store/judge/answers.ts";
import { listJudgeCalls, sumJudgeUse } from "../../src/store/judge/calls.ts";
import { deleteJudgeConnection, saveJudgeConnection } from "../../src/store/judge/connections.ts";
import { listJudgeDays, listJudgeTests } from "../../src/store/judge/costs.ts";
import { replaceJudgePrices } from "../../src/store/judge/prices.ts";
import { findJudgeToday, updateJudgeSettings } from "../../src/store/judge/settings.ts";
import { deleteTrace } from "../../src/store/traces/read.ts";
import { startCuttingProxy } from "../store/connection/cutting-proxy.ts";
import { makeSender, makeTestCase, openTwice, type Sender, storeDueRun } from "../store/traces/make-write.ts";
import {
  completion,
  echoing,
  json,
  obliging,
  refusal,
  startJudgeServer,
  usage,
  verdictsOf,
} from "../support/judge-server.ts";
import { contextOf, openTestJudges, semanticQuestion, testVault } from "../support/judges.ts";
import { makeAccount, makeAgentRow, makeProject } from "../support/rows.ts";

const { url, db, other, close } = await openTwice();
const server = await startJudgeServer();
const judges = openTestJudges(db, server.connection());
after(async () => {
  await judges.close();
  await server.close();
  await close();
});
beforeEach(() => {
  server.requests.length = 0;
  server.script = obliging();
});

const perCall = usage.prompt_tokens + usage.completion_tokens;
/** 1 $ per million in, 2 $ out. */
const price = { model: "local-model", validFrom: "2026-01-01", inputUsd: 1, outputUsd: 2 };
const callUsd = (usage.prompt_tokens + 2 * usage.completion_tokens) / 1_000_000;

async function run(sender: Sender) {
  const { runId, traceId } = await storeDueRun(db, sender, { text: "It is in Lyon." });
  return contextOf(sender.agentId, { runId, traceId });
}

const ask = (context: Parameters<typeof judges.judgeOf>[0], criterion: string, from = judges) =>
  from.judgeOf(context).ask([semanticQuestion({ criteria: [criterion] })]);

suite("a call", () => {
  test("is kept with all that was said, counted to its run, its tests and its day at the project's price", async () => {
    const sender = await makeSender(db);
    const [one, two] = [
      await makeTestCase(db, sender.agentId, {}),
      await makeTestCase(db, sender.agentId, {}),
    ];
    await replaceJudgePrices(db, sender.projectId, [price]);
    const context = await run(sender);
    await judges
      .judgeOf(context)
      .ask([
        semanticQuestion({ testId: one.id, criteria: ["A.", "B.", "C."] }),
        semanticQuestion({ testId: two.id, criteria: ["C."] }),
      ]);
    const [call, ...more] = await listJudgeCalls(db, context.runId!);
    assert.equal(more.length, 0);
    const { id: _, startedAt, ms, instructions, material, answer, ...rest } = call!;
    assert.deepEqual(rest, {
      kind: "semantic",
      provider: "openai_compatible",
      model: "local-model",
      promptVersion: rest.promptVersion,
      mode: "json_schema",
      state: "ok",
      reason: null,
      inputTokens: usage.prompt_tokens,
      outputTokens: usage.completion_tokens,
      tokensEstimated: false,
      costUsd: callUsd,
    });
    assert.ok(startedAt instanceof Date && ms >= 0);
    assert.equal(instructions, server.requests[0]!.instructions);
    assert.equal(material, server.requests[0]!.material);
    assert.ok(JSON.parse(answer!).verdicts.length > 0);
    const sum = { inputTokens: usage.prompt_tokens, outputTokens: usage.completion_tokens, costUsd: callUsd };
    assert.deepEqual((await sumJudgeUse(db, [context.runId!])).get(context.runId!), {
      calls: 1,
      ...sum,
      unpricedTokens: 0,
      estimatedTokens: 0,
    });
    const { day, ...today } = await findJudgeToday(db, sender.agentId);
    assert.deepEqual(today, { calls: 1, cached: 0, ...sum, unpricedTokens: 0, estimatedTokens: 0 });
    assert.deepEqual(await listJudgeDays(db, sender.agentId, { from: day, to: day }), [{ day, ...today }]);
    // Of three criteria, the third is shared.
    const shares = await listJudgeTests(db, sender.agentId, { from: day, to: day });
    assert.deepEqual(
      shares.map(({ testId, inputTokens }) => [testId, Math.round((inputTokens / usage.prompt_tokens) * 6)]),
      [
        [one.id, 5],
        [two.id, 1],
      ],
    );
  });

  test("that failed is kept and counted as well, its tokens unpriced where the price is not known", async () => {
    const sender = await makeSender(db);
    const context = await run(sender);
    server.script = (_, index) => (index === 0 ? completion("", "content_filter") : refusal(503));
    await ask(context, "First.");
    await ask(context, "Second.");
    assert.deepEqual(
      (await listJudgeCalls(db, context.runId!)).map(call => [call.state, call.costUsd, call.inputTokens]),
      [
        ["unusable", null, usage.prompt_tokens],
        ["later", null, 0],
      ],
    );
    const { costUsd, unpricedTokens, calls } = await findJudgeToday(db, sender.agentId);
    assert.deepEqual([calls, costUsd, unpricedTokens], [2, 0, perCall]);
  });

  test("is kept and counted, whatever a server says that it took", async () => {
    for (const [said, kept] of [
      [1e15, 100_000_000],
      [3.7, 4],
    ] as const) {
      const sender = await makeSender(db);
      server.script = request => {
        const answer = echoing({ verdicts: verdictsOf(request) }, request);
        const message = { role: "assistant", content: JSON.stringify(answer) };
        const usage = { prompt_tokens: said, completion_tokens: said };
        return json(200, { choices: [{ index: 0, message, finish_reason: "stop" }], usage });
      };
      const context = await run(sender);
      for (const _ of [1, 2]) assert.equal((await ask(context, "First."))[0]?.code, "ok");
      assert.deepEqual(
        (await listJudgeCalls(db, context.runId!)).map(call => [call.inputTokens, call.outputTokens]),
        [[kept, kept]],
      );
      assert.equal((await findJudgeToday(db, sender.agentId)).inputTokens, kept);
    }
  });

  for (const [what, said] of [
    ["none", undefined],
    ["nothing but 0", { prompt_tokens: 0, completion_tokens: 0 }],
    ["numbers below 0", { prompt_tokens: -5, completion_tokens: -5 }],
  ] as const) {
    test(`whose server reports ${what} as usage is counted by an estimate, marked as one, up to the budget`, async () => {
      const sender = await makeSender(db);
      const { id: testId } = await makeTestCase(db, sender.agentId, {});
      await updateJudgeSettings(db, sender.agentId, { sampling: 1, budgetUsd: null, budgetTokens: 2_000 });
      let answered = "";
      server.script = request => {
        answered = JSON.stringify(echoing({ verdicts: verdictsOf(request) }, request));
        const message = { role: "assistant", content: answered };
        return json(200, { choices: [{ index: 0, message, finish_reason: "stop" }], usage: said });
      };
      const context = await run(sender);
      const question = (criterion: string) => semanticQuestion({ testId, criteria: [criterion] });
      const [first] = await judges.judgeOf(context).ask([question("First.")]);
      assert.equal(first?.code === "ok" && first.spent?.estimated, true);
      const [call] = await listJudgeCalls(db, context.runId!);
      const [input, output] = [tokensOf(call!), Math.ceil(Buffer.byteLength(answered) / 4)];
      assert.deepEqual([call!.inputTokens, call!.outputTokens, call!.tokensEstimated], [input, output, true]);
      const today = await findJudgeToday(db, sender.agentId);
      assert.deepEqual([today.inputTokens, today.estimatedTokens], [input, input + output]);
      const [ofTest] = await listJudgeTests(db, sender.agentId, { from: today.day, to: today.day });
      assert.equal(ofTest!.estimatedTokens, input + output);
      const sum = (await sumJudgeUse(db, [context.runId!])).get(context.runId!);
      assert.equal(sum!.estimatedTokens, input + output);

      const codes: string[] = [];
      for (let at = 0; at < 5; at++) {
        const [answer] = await judges.judgeOf(context).ask([question(`Fact ${at}.`)]);
        codes.push(answer!.code);
      }
      assert.equal(codes.at(-1), "budget");
    });
  }

  test("is counted once where the database's word that it is kept is lost", async () => {
    const sender = await makeSender(db);
    const context = await run(sender);
    const proxy = await startCuttingProxy(url);
    const proxied = openDatabase(proxy.url);
    const judges = openTestJudges(proxied, server.connection());
    try {
      proxy.loseAnswerTo("keep-judge-call");
      assert.equal((await ask(context, "Lost.", judges))[0]?.code, "ok");
      await judges.close();
      assert.equal(proxy.lost, 1);
    } finally {
      await proxied.close();
      await proxy.close();
    }
    assert.equal((await listJudgeCalls(db, context.runId!)).length, 1);
    const { calls, inputTokens } = await findJudgeToday(db, sender.agentId);
    assert.deepEqual([calls, inputTokens], [1, usage.prompt_tokens]);
  });

  test("goes with its trace, and so do the answers that quote it: the same question costs again", async () => {
    const sender = await makeSender(db);
    const [first, second] = [await run(sender), await run(sender)];
    await ask(first, "Quoted.");
    await ask(second, "Quoted.");
    assert.equal(server.requests.length, 1);
    const kept = async () => {
      const { rows } = await db.pool.query("select from judge_answers where project_id = $1", [
        sender.projectId,
      ]);
      return rows.length;
    };
    assert.equal(await kept(), 1);
    await deleteTrace(db, first.traceId!);
    assert.equal(await kept(), 0);
    await ask(first, "Quoted.");
    assert.deepEqual([server.requests.length, await kept()], [2, 0]);
    await ask(second, "Quoted.");
    assert.deepEqual([server.requests.length, await kept()], [3, 1]);
  });

  test("goes with its trace, and none is kept of a trace that is gone already", async () => {
    const sender = await makeSender(db);
    const context = await run(sender);
    await ask(context, "Before.");
    await deleteTrace(db, context.traceId!);
    await ask(context, "After.");
    assert.deepEqual(await listJudgeCalls(db, context.runId!), []);
    assert.equal((await findJudgeToday(db, sender.agentId)).calls, 2);
  });
});

test("all that judges left behind goes with the agent, and what the project said and heard with the project", async () => {
  const sender = await makeSender(db);
  const test = await makeTestCase(db, sender.agentId, {});
  await replaceJudgePrices(db, sender.projectId, [price]);
  await judges.judgeOf(await run(sender)).ask([semanticQuestion({ testId: test.id })]);
  // Tried out on something that is no trace.
  await ask(contextOf(sender.agentId), "Tried.");
  const left = async () => {
    const { rows } = await db.pool.query(
      `select (select count(*) from judge_calls where agent_id = $1) as calls,
        (select count(*) from judge_days where agent_id = $1) as days,
        (select count(*) from judge_test_days where test_id = $2) as tests,
        (select count(*) from judge_answers where project_id = $3) as answers,
        (select count(*) from judge_prices where project_id = $3) as prices`,
      [sender.agentId, test.id, sender.projectId],
    );
    return rows[0];
  };
  assert.deepEqual(await left(), { calls: 2, days: 1, tests: 1, answers: 2, prices: 1 });
  await deleteAgent(db, sender.agentId);
  assert.deepEqual(await left(), { calls: 0, days: 0, tests: 0, answers: 1, prices: 1 });
  await deleteProject(db, sender.projectId);
  assert.deepEqual(await left(), { calls: 0, days: 0, tests: 0, answers: 0, prices: 0 });
});

suite("an agent's budget", () => {
  test("is that of a day of UTC: what the day before took does not count", async () => {
    const sender = await makeSender(db);
    await updateJudgeSettings(db, sender.agentId, { sampling: 1, budgetUsd: 1, budgetTokens: 100 });
    await db.pool.query(
      "insert into judge_days values ($1, (now() at time zone 'utc')::date - 1, 9, 0, 9000, 900, 9, 0)",
      [sender.agentId],
    );
    const context = await run(sender);
    assert.equal((await ask(context, "Today."))[0]?.code, "ok");
    assert.equal((await ask(context, "Later today."))[0]?.code, "budget");
  });

  test("in tokens or in money ends the day's calls in every process, not what was answered before", async () => {
    for (const [budget, reason] of [
      [{ budgetUsd: null, budgetTokens: perCall }, /daily judge budget of 366 tokens .+ 00:00 UTC/],
      [{ budgetUsd: callUsd, budgetTokens: null }, /daily judge budget of \$0\.000411/],
    ] as const) {
      server.requests.length = 0;
      const sender = await makeSender(db);
      await replaceJudgePrices(db, sender.projectId, [price]);
      await updateJudgeSettings(db, sender.agentId, { sampling: 1, ...budget });
      const elsewhere = openTestJudges(other, server.connection());
      const context = await run(sender);
      assert.equal((await ask(context, "First."))[0]?.code, "ok");
      for (const from of [judges, elsewhere]) {
        const [answer] = await ask({ ...context, deadlineAt: Date.now() + 900_000 }, "Second.", from);
        assert.equal(answer?.code, "budget");
        assert.match(reasonText((answer as Unanswered).detail), reason);
        assert.equal((await ask(context, "First.", from))[0]?.code, "ok");
      }
      const scenarios = [{ testId: "t", scenario: "A parcel." }];
      const routing = await judges.judgeOf(context).route({ userInput: "Hello", scenarios });
      assert.equal(routing.code, "budget");
      assert.equal(server.requests.length, 1);
      await elsewhere.close();
    }
  });

  test("in money is reached by a sum that falls short of it for its binary fractions alone", async () => {
    const sender = await makeSender(db);
    await updateJudgeSettings(db, sender.agentId, { sampling: 1, budgetUsd: 1, budgetTokens: null });
    const sum = Array<number>(10)
      .fill(0.1)
      .reduce((a, b) => a + b);
    assert.ok(sum < 1);
    await db.pool.query(
      "insert into judge_days values ($1, (now() at time zone 'utc')::date, 10, 0, 10, 0, $2, 0)",
      [sender.agentId, sum],
    );
    const [answer] = await ask(await run(sender), "More.");
    assert.equal(answer?.code, "budget");
    assert.match(reasonText((answer as Unanswered).detail), /daily judge budget of \$1\.00/);
  });

  test("is looked at again by those that waited for a place: only calls under way go beyond it", async () => {
    const sender = await makeSender(db);
    await updateJudgeSettings(db, sender.agentId, { sampling: 1, budgetUsd: null, budgetTokens: 1 });
    const concurrency = 2;
    const processes = [db, other].map(db => openTestJudges(db, server.connection({ concurrency })));
    const { promise: told, resolve: tell } = Promise.withResolvers<void>();
    server.script = async (request, index) => {
      await told;
      return obliging()(request, index);
    };
    const context = contextOf(sender.agentId);
    const asked = Array.from({ length: 40 }, (_, at) => ask(context, `Fact ${at}.`, processes[at % 2]));
    await server.arrived(2 * concurrency);
    tell();
    const answers = (await Promise.all(asked)).map(([answer]) => answer!.code);
    assert.equal(server.requests.length, 2 * concurrency);
    assert.equal(answers.filter(state => state === "ok").length, server.requests.length);
    assert.equal(answers.filter(state => state === "budget").length, 40 - server.requests.length);
    assert.equal((await findJudgeToday(db, sender.agentId)).calls, server.requests.length);
    for (const process of processes) await process.close();
  });

  test("that is used up keeps no agent of the same project from asking the same", async () => {
    const sender = await makeSender(db);
    await updateJudgeSettings(db, sender.agentId, { sampling: 1, budgetUsd: null, budgetTokens: 0 });
    assert.equal((await ask(await run(sender), "Same."))[0]?.code, "budget");
    const sibling = await makeSender(db);
    await db.pool.query("update agents set project_id = $1 where id = $2", [
      sender.projectId,
      sibling.agentId,
    ]);
    assert.equal((await ask(await run(sibling), "Same."))[0]?.code, "ok");
  });
});

test("an account's budget of the service's judge is of all its agents, today, and not of a judge of its own", async () => {
  const accountId = await makeAccount(db);
  const projectId = await makeProject(db, accountId);
  const first = await makeAgentRow(db, { projectId: await makeProject(db, accountId) });
  const [second, other] = [await makeAgentRow(db, { projectId }), await makeAgentRow(db)];
  const judges = openTestJudges(db, server.connection(), { accountTokensMax: perCall + 1 });
  const codeOf = async (agentId: string, criterion: string) =>
    (await ask(contextOf(agentId), criterion, judges))[0] as Unanswered;
  assert.equal((await codeOf(first, "One.")).code, "ok");
  assert.equal((await codeOf(first, "Two.")).code, "ok");
  await deleteAgent(db, first);
  const spent = await codeOf(second, "Three.");
  assert.deepEqual(
    [spent.code, spent.detail],
    ["budget", { code: "judge_account_budget_spent", data: { tokens: perCall + 1 } }],
  );
  assert.equal((await codeOf(other, "Three.")).code, "ok");
  assert.equal(server.requests.length, 3);
  await saveJudgeConnection(db, testVault, projectId, () => server.connection());
  assert.equal((await codeOf(second, "Three.")).code, "ok");
  await db.pool.query("update account_use set day = day - 1 where account_id = $1", [accountId]);
  await deleteJudgeConnection(db, projectId);
  assert.equal((await codeOf(second, "Four.")).code, "ok");
  await judges.close();
});

suite("an agent's sample", () => {
  test("judges the same share of conversations every time, and says of the others that they are left out", async () => {
    const sender = await makeSender(db);
    await updateJudgeSettings(db, sender.agentId, { sampling: 0.25, budgetUsd: null, budgetTokens: null });
    const traceIds = Array.from(
      { length: 400 },
      (_, at) => `00000000-0000-7000-8000-${String(at).padStart(12, "0")}`,
    );
    const stateOf = async (traceId: string) => {
      const [answer] = await ask(contextOf(sender.agentId, { traceId, runId: randomUUID() }), "A.");
      return answer!.code;
    };
    const states = async () => {
      const found: string[] = [];
      // A few at a time: on a busy machine, all at once wait too long for a database connection.
      for (let at = 0; at < traceIds.length; at += 20) {
        found.push(...(await Promise.all(traceIds.slice(at, at + 20).map(stateOf))));
      }
      return found;
    };
    const first = await states();
    const judged = first.filter(state => state === "ok").length;
    assert.ok(judged > 70 && judged < 130, `${judged} of 400`);
    assert.equal(first.filter(state => state === "not_sampled").length, 400 - judged);
    assert.deepEqual(await states(), first);
    const left = traceIds[first.indexOf("not_sampled")]!;
    const context = contextOf(sender.agentId, { traceId: left, runId: randomUUID() });
    const [answer] = await ask(context, "A.");
    assert.deepEqual((answer as Unanswered).detail, { code: "judge_not_sampled", data: { percent: 25 } });
    assert.equal((await ask({ ...context, runId: null }, "A."))[0]?.code, "ok");
    assert.equal((await ask({ ...context, chosen: true }, "A."))[0]?.code, "ok");
    const scenarios = [{ testId: "t", scenario: "A parcel." }];
    assert.equal((await judges.judgeOf(context).route({ userInput: "Hello", scenarios })).code, "ok");
  });
});

suite("an answer", () => {
  test("is asked for again after 30 days, and is gone by then", async () => {
    const sender = await makeSender(db);
    const context = await run(sender);
    await ask(context, "Old.");
    await db.pool.query(
      "update judge_answers set made_at = now() - interval '30 days' where project_id = $1",
      [sender.projectId],
    );
    await ask(context, "Old.");
    assert.equal(server.requests.length, 2);
    await ask(context, "Older.");
    await db.pool.query(
      "update judge_answers set made_at = now() - interval '31 days' where project_id = $1",
      [sender.projectId],
    );
    await deleteOldJudgeAnswers(db);
    const { rows } = await db.pool.query("select from judge_answers where project_id = $1", [
      sender.projectId,
    ]);
    assert.equal(rows.length, 0);
  });
});
