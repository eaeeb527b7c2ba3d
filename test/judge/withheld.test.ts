// What the privacy settings of a project keep from its judge, and what becomes of answers that would have needed it.
import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import type { SemanticQuestion } from "../../src/model/judge/judge.ts";
import { fitEarlier, fitMaterial } from "../../src/model/judge/material.ts";
import type { Unanswered } from "../../src/model/judge/outcome.ts";
import { noPrivacy, type PrivacySettings } from "../../src/model/privacy.ts";
import { savePrivacy } from "../../src/store/accounts/privacy.ts";
import { openTwice } from "../store/traces/make-write.ts";
import { obliging, startJudgeServer } from "../support/judge-server.ts";
import {
  contextOf,
  makeJudgedAgent,
  openTestJudges,
  semanticQuestion,
  testVault,
} from "../support/judges.ts";

const { db, close } = await openTwice();
const server = await startJudgeServer();
after(async () => {
  await server.close();
  await close();
});
beforeEach(() => {
  server.requests.length = 0;
  server.script = obliging();
});

const address = "ann@shop.example";
const at = { spanId: "s", attribute: "a" };
const long = `${"word ".repeat(2_000)}${address} ${"word ".repeat(2_000)}`;
const material = fitMaterial(
  {
    items: [
      { kind: "user", text: `I am ${address}`, ...at },
      { kind: "tool_call", text: `{"to":"${address}"}`, name: "send", ...at },
      { kind: "tool_result", text: "sent to the outbox", name: `send as ${address}`, ...at },
      { kind: "assistant", text: "Done.", agent: `clerk of ${address}`, ...at },
      { kind: "assistant", text: "Done.", agent: `${"clerk ".repeat(15)}${address}`, ...at },
      { kind: "assistant", text: long, ...at },
    ],
    complete: true,
  },
  { tools: true, replyLength: 20 },
);
const question = (more: Partial<SemanticQuestion> = {}) =>
  semanticQuestion({
    userInput: `Write to ${address}`,
    response: `Sent to ${address} today.`,
    material,
    ...more,
  });

async function judgeWith(settings: Partial<PrivacySettings>) {
  const { agentId } = await makeJudgedAgent(db);
  const { rows } = await db.pool.query<{ id: string }>("select project_id as id from agents where id = $1", [
    agentId,
  ]);
  assert.ok(await savePrivacy(db, testVault, rows[0]!.id, { ...noPrivacy, ...settings }));
  const judges = openTestJudges(db, server.connection());
  return { judge: judges.judgeOf(contextOf(agentId)), close: () => judges.close() };
}

const sent = () => JSON.stringify(server.requests);

test("what the rules for the judge find is in no request, and the answer says so", async () => {
  const { judge, close } = await judgeWith({ judgeRules: ["email"] });
  const earlier = fitEarlier([{ kind: "user", text: `I am ${address}`, ...at }])!;
  await judge.route({
    userInput: `Write to ${address}`,
    earlier,
    scenarios: [{ testId: "t", scenario: "Mail." }],
  });
  const [answer] = await judge.ask([question()]);
  assert.equal(server.requests.length, 2);
  assert.doesNotMatch(sent(), /ann@|shop\.example/);
  assert.match(sent(), /⟦email⟧/);
  for (const { instructions } of server.requests) assert.match(instructions, /replaced by placeholders/);
  assert.match(sent(), /outbox/);
  assert.equal(answer!.code, "ok");
  assert.deepEqual("withheld" in answer! && answer.withheld, { rules: ["email"] });
  await close();
});

test("a judge that may not see tool results gets none, and what it cannot decide is skipped with that reason", async () => {
  const { judge, close } = await judgeWith({ judgeSeesToolResults: false });
  const [answer] = await judge.ask([question()]);
  assert.doesNotMatch(sent(), /outbox/);
  assert.match(sent(), /What tools returned is not shown/);
  assert.match(sent(), new RegExp(address));
  assert.deepEqual("withheld" in answer! && answer.withheld, { toolResults: 1 });
  server.script = obliging({ verdict: () => "cannot_tell" });
  const [open] = await judge.ask([question({ criteria: ["Every price comes from a tool result."] })]);
  assert.equal((open as Unanswered).detail.code, "judge_withheld");
  // Nothing was withheld from this one.
  const { material: _, ...bare } = question({ criteria: ["Names the price."] });
  const [undecided] = await judge.ask([bare]);
  assert.equal((undecided as Unanswered).detail.code, "judge_undecided");
  await close();
});

test("by default the judge is sent everything", async () => {
  const { judge, close } = await judgeWith({});
  const [answer] = await judge.ask([question()]);
  assert.match(sent(), /outbox/);
  assert.match(sent(), new RegExp(address));
  assert.doesNotMatch(sent(), /placeholder|is not shown, although/);
  assert.equal("withheld" in answer!, false);
  await close();
});
