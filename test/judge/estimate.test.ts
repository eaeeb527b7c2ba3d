// What routing would take is told without a call, knows what was answered before, and is what a call then costs.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, beforeEach, test } from "node:test";
import { Judges } from "../../src/judge.ts";
import type { JudgeCall, JudgeConnection } from "../../src/model/judge/call.ts";
import type { Judge, RouteEstimate, RoutingAnswer } from "../../src/model/judge/judge.ts";
import { canaryKindOf } from "../../src/remote/judge/canaries.ts";
import type { JudgeClient, JudgeRequest } from "../../src/remote/judge/client.ts";
import { replaceJudgePrices } from "../../src/store/judge/prices.ts";
import { openVault } from "../../src/store/secrets/vault.ts";
import { makeSender, openTwice, type Sender } from "../store/traces/make-write.ts";

const environment: JudgeConnection = {
  provider: "openai_compatible",
  url: "http://127.0.0.1:9/v1",
  model: "local",
  apiKey: null,
  timeoutMs: 30_000,
  concurrency: 8,
  tokensPerMinute: null,
};

const { db, close } = await openTwice();
const vault = openVault(randomBytes(32));
const log = { error: assert.fail, warn: assert.fail };
let asked: JudgeRequest<unknown>[] = [];

const call: JudgeCall = {
  kind: "route" as const,
  provider: environment.provider,
  model: environment.model,
  promptVersion: "2",
  mode: "text" as const,
  state: "ok" as const,
  reason: null,
  startedAt: Date.now(),
  ms: 5,
  inputTokens: 1_000,
  outputTokens: 100,
  tokensEstimated: false,
  instructions: "",
  material: "",
  answer: "",
};

const client: JudgeClient = {
  provider: environment.provider,
  model: environment.model,
  promptVersion: "2",
  queued: () => 0,
  enter: async () => ({ end() {} }),
  async call(request) {
    asked.push(request);
    const { instructions, echo } = request.prompt;
    const scenarios: Record<string, string> = JSON.parse(instructions.split("\n").at(-3)!);
    const labels = Object.entries(scenarios).map(([id, scenario]) => ({
      ...{
        id,
        why: "as told",
        label: canaryKindOf(scenario, "Where is my parcel?") === "never" ? "no_match" : "match",
      },
    }));
    const text = JSON.stringify({ first_word: echo.first, labels, last_word: echo.last });
    return { ...request.read({ text, tokens: { counted: 0, estimated: 1 } }), call };
  },
};

const judges = new Judges({ db, vault, environment, timeoutMs: 60_000, log, openClient: () => client });
const none = new Judges({ db, vault, environment: null, timeoutMs: 60_000, log, openClient: () => client });
after(async () => {
  await Promise.all([judges.close(), none.close()]);
  await close();
});

let sender: Sender;
beforeEach(async () => {
  asked = [];
  sender = await makeSender(db);
});

const judgeOf = (from = judges): Judge =>
  from.judgeOf({ agentId: sender.agentId, traceId: null, runId: null, deadlineAt: null, tries: 0 });
const question = (count: number) => ({
  userInput: "Where is my parcel?",
  scenarios: Array.from({ length: count }, (_, at) => ({ testId: `t${at}`, scenario: `Situation ${at}.` })),
});

async function estimate(count: number, judge = judgeOf()) {
  const estimate = await judge.estimateRoute!(question(count));
  assert.equal(estimate.code, "ok");
  return estimate as RouteEstimate & { code: "ok" };
}

test("nothing is asked for it, and each sixteen scenarios are a call", async () => {
  const one = await estimate(1);
  assert.deepEqual([one.calls, one.outputTokens, one.costUsd, one.model], [1, 3 * 40, null, "local"]);
  const many = await estimate(33);
  assert.deepEqual([many.calls, many.outputTokens], [3, (33 + 3 * 2) * 40]);
  assert.ok(one.inputTokens > 100 && many.inputTokens > one.inputTokens * 2);
  assert.equal(asked.length, 0);
});

test("what was answered before costs nothing, whatever white space the input bears, and an answer tells what it took", async () => {
  const judge = judgeOf();
  const routed = (await judge.route(question(2))) as RoutingAnswer & { code: "ok" };
  assert.deepEqual(routed.spent, { calls: 1, inputTokens: 1_000, outputTokens: 100, costUsd: null });
  const again = await judge.estimateRoute!({ ...question(3), userInput: " Where is\nmy parcel? " });
  assert.deepEqual(again.code === "ok" && [again.calls, again.outputTokens], [1, 3 * 40]);
  const known = await estimate(2);
  assert.deepEqual([known.calls, known.inputTokens, known.outputTokens], [0, 0, 0]);
  const cached = (await judge.route(question(2))) as RoutingAnswer & { code: "ok" };
  assert.deepEqual([cached.spent?.calls, asked.length], [0, 1]);
});

test("it is priced by what the project pays", async () => {
  const price = { model: "local", validFrom: "2020-01-01", inputUsd: 10, outputUsd: 100 };
  await replaceJudgePrices(db, sender.projectId, [price]);
  const { inputTokens, outputTokens, costUsd } = await estimate(1);
  assert.equal(costUsd, (inputTokens * 10 + outputTokens * 100) / 1_000_000);
  const routed = (await judgeOf().route(question(1))) as RoutingAnswer & { code: "ok" };
  assert.equal(routed.spent?.costUsd, 0.02);
});

test("without a judge, or with the day's budget used up, it says so", async () => {
  const without = await judgeOf(none).estimateRoute!(question(1));
  assert.equal(without.code, "not_configured");
  await judgeOf().route(question(1));
  await db.pool.query("update agents set judge_budget_tokens = 1 where id = $1", [sender.agentId]);
  const other = new Judges({ db, vault, environment, timeoutMs: 60_000, log, openClient: () => client });
  const spent = await judgeOf(other).estimateRoute!(question(2));
  assert.equal(spent.code, "budget");
  assert.equal((await judgeOf(other).estimateRoute!(question(1))).code, "ok");
  await other.close();
});
