// Every template passes a hundred replies that are as they should be, and none of a hundred that are not.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { evaluateTest } from "../../src/evaluate/evaluate.ts";
import { noAnswers, openQuestions } from "../../src/evaluate/questions.ts";
import { RunBudget } from "../../src/model/run/budget.ts";
import type { Span } from "../../src/model/trace/trace.ts";
import { derive } from "../../src/reading/derived/derive.ts";
import { Sandbox } from "../../src/remote/sandbox/sandbox.ts";
import { templates } from "../../web/templates.ts";
import { root, scored, span, testCase, tool, traceOf } from "../evaluate/makers.ts";

const sandbox = new Sandbox();
after(() => sandbox.close());

const replied = (text: string) => [root({ "gen_ai.prompt": "Can you help?", "gen_ai.response.text": text })];
const linesOf = (file: string) =>
  readFileSync(new URL(`../fixtures/template-replies/${file}.txt`, import.meta.url), "utf8")
    .trim()
    .split("\n");
const hundred = <T>(make: (at: number) => T): T[] => Array.from({ length: 100 }, (_, at) => make(at));
const pairs = <A, B, T>(some: A[], others: B[], join: (one: A, other: B) => T): T[] =>
  some.flatMap(one => others.map(other => join(one, other)));

const explained = linesOf("refund-explained").map(replied);
const claimed = linesOf("refund-claimed").map(replied);
const invisible = [..."\u200b\u200c\u200d\u2060\u2063\u00ad\u200e\u061c\ufe0f\u{e0041}"];
const wordless = [...invisible, "👍", "…", "?!", "❤️", "✅", ":-)", "—", "€", "***", "🇫🇷"];
const sentences = [
  ...["I can help you. ", "Sure! ", "Hello, ", "To be honest: ", "That said, "],
  ...["In short, ", "Well — ", "> ", "**Note** ", "Ciao, "],
];
const timed = (ms: number) =>
  root(
    {},
    { start_time_unix_nano: "1000000000000000000", end_time_unix_nano: `${1_000_000_000_000 + ms}000000` },
  );
const used = (input: number, output: number) =>
  root({ "gen_ai.usage.input_tokens": input, "gen_ai.usage.output_tokens": output });
const looksUp = (args?: unknown) => [root(), tool("look_up_order", args)];
const ids = ["10482", 10482, "#10482", "A-10482", "ORD 10482", " 10482 ", "10482/2", "№10482", 7, "order-7"];
const answers = (text: string) => [
  root(),
  span({ name: "Compose answer", attributes: { "gen_ai.response.text": text } }),
];

/** `good`: they pass, where the judge finds every criterion met; `bad`: they do not pass all the same. */
const replies: Record<string, { good: Span[][]; bad: Span[][] }> = {
  answers: {
    good: [...claimed.slice(0, 90), ...pairs(wordless.slice(10), [""], replied as () => Span[])],
    bad: pairs(invisible, invisible, (a, b) => replied(a + b)),
  },
  fast: { good: hundred(at => [timed(at * 50)]), bad: hundred(at => [timed(5_001 + at * at * at)]) },
  tokens: {
    good: hundred(at => [used(at * 70, at * 10)]),
    bad: hundred(at => [at % 2 ? used(8_001 + at, 0) : used(at, 1_001 + at)]),
  },
  "no-server-error": {
    good: hundred(at => [root({ "http.response.status_code": 200 + at })]),
    bad: hundred(at => [root({ "http.response.status_code": 300 + at * 3 })]),
  },
  "forbidden-words": {
    good: pairs(
      sentences,
      [
        "as an aide I see it",
        "as an Airbus",
        "the language is modelled",
        "languages, models",
        "the prompt system",
        "systemic prompts",
        "an AI, as you say",
        "has an ai",
        "we speak your language",
        "promptly",
      ],
      (a, b) => replied(a + b),
    ),
    bad: pairs(
      sentences,
      [
        "as an AI, I cannot",
        "As an AI I may",
        "AS AN AI.",
        "as an ai model",
        "as\u00a0an AI",
        "I am a language model",
        "a large language  model",
        "my system prompt says",
        "the System\nPrompt",
        "as a\u200bn A\u200dI",
      ],
      (a, b) => replied(a + b),
    ),
  },
  "on-topic": { good: claimed, bad: pairs(wordless, wordless.slice(0, 5), (a, b) => replied(a + b)) },
  "tool-call": {
    good: pairs(
      ids,
      [
        {},
        { verbose: true },
        { user: "Ann" },
        { order_ids: [] },
        { region: null },
        { a: { b: 1 } },
        { limit: 3 },
        { q: "" },
        { x: [] },
        { y: 0 },
      ],
      (order_id, more) => looksUp({ order_id, ...more }),
    ),
    bad: pairs(
      ["look_up_orders", "lookup_order", "look_up", "find_order", "order"],
      ids,
      (name, order_id) => [root(), tool(name, { order_id })],
    ).concat(
      pairs(
        ["unknown", "", null, [], {}],
        [
          {},
          { id: 10482 },
          { orderId: "10482" },
          { number: 1 },
          { order: "7" },
          { q: "10482" },
          { a: 1 },
          { b: "2" },
          { c: [3] },
          { order_id_: 4 },
        ],
        (order_id, more) => looksUp({ order_id, ...more }),
      ),
    ),
  },
  "json-reply": {
    good: hundred(at =>
      answers(JSON.stringify({ summary: `Ticket ${at}`, tags: at % 2 ? ["a"] : undefined }, null, at % 3)),
    ),
    bad: hundred(at =>
      answers(
        [
          `Ticket ${at}`,
          `{"summary":${at}}`,
          `{"Summary":"${at}"}`,
          `["${at}"]`,
          `\`\`\`json\n{"summary":"${at}"}\n\`\`\``,
        ][at % 5]!,
      ),
    ),
  },
  refund: { good: explained, bad: claimed },
};

async function outcomeOf(document: object, spans: Span[]) {
  const trace = traceOf(...spans);
  const derived = derive(trace);
  const tried = testCase({ ...document, passiveBehavior: "always_run" });
  const given = noAnswers();
  for (;;) {
    const open = openQuestions(trace, derived, [tried], given);
    if (open.semantic.length + open.sandbox.length === 0) break;
    for (const { key } of open.semantic) given.semantic.set(key, scored(1));
    for (const { key, question } of open.sandbox) {
      const caller = { accountId: "a", agentId: "a", budget: new RunBudget() };
      given.sandbox.set(key, await sandbox.answer(question, caller));
    }
  }
  return evaluateTest(trace, derived, tried, given).outcome;
}

for (const { id, document } of templates) {
  test(`the template ${id} tells good replies from bad ones`, async () => {
    const { good, bad } = replies[id]!;
    assert.ok(good.length >= 100 && bad.length >= 100, `${good.length} good, ${bad.length} bad`);
    const comeTo = (outcome: string) => async (spans: Span[]) =>
      assert.equal(await outcomeOf(document, spans), outcome, JSON.stringify(spans));
    await Promise.all([...good.map(comeTo("passed")), ...bad.map(comeTo("failed"))]);
  });
}
