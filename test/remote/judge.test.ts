// The questions and their answers, against a real server that speaks the protocol.
import assert from "node:assert/strict";
import { after, beforeEach, describe, it } from "node:test";
import pino from "pino";
import type { RoutingQuestion, SemanticQuestion } from "../../src/model/judge.ts";
import { type JudgeCall, openJudge } from "../../src/remote/judge.ts";
import {
  completion,
  idsOf,
  materialOf,
  obliging,
  only,
  startJudgeServer,
  usage,
} from "../support/judge-server.ts";

const log = pino({ level: "silent" });
const server = await startJudgeServer();
after(() => server.close());
beforeEach(() => {
  server.requests.length = 0;
  server.script = obliging();
});

const config = { url: server.url, model: "local-model", apiKey: "key-1", timeoutMs: 10_000, concurrency: 4 };
const judge = () => openJudge(config, log);

function routing(count: number, userInput = "Where is my parcel?"): RoutingQuestion {
  const scenarios = Array.from({ length: count }, (_, index) => ({
    testId: `test-${index}`,
    scenario: `Scenario ${index}`,
  }));
  return { userInput, scenarios };
}

const semantic: SemanticQuestion = {
  testId: "test-1",
  assertionId: "assertion-1",
  scenario: "The user asks where a parcel is.",
  userInput: "Where is my parcel?",
  response: "It is in Lyon and arrives on Tuesday.",
  criteria: "Says where the parcel is.",
};

const verdict = (verdict: string, evidence = "", more = {}) =>
  completion({ verdicts: [{ id: "c1", evidence, reason: "Because.", verdict, ...more }] });

describe("without a configuration", () => {
  it("every question is answered with not_configured", async () => {
    const none = openJudge(null, log);
    assert.equal((await none.route(routing(1))).state, "not_configured");
    assert.equal((await none.ask(semantic)).state, "not_configured");
  });
});

describe("a routing question", () => {
  it("is put in one call for all scenarios of a trace", async () => {
    const labels: Record<string, string> = {
      "Scenario 0": "match",
      "Scenario 1": "unsure",
      "Scenario 2": "no_match",
    };
    server.script = obliging({ label: scenario => labels[scenario]! });
    const answer = await judge().route(routing(3));
    assert.equal(server.requests.length, 1);
    assert.deepEqual(answer, {
      state: "ok",
      labels: new Map([
        ["test-0", { label: "match", reason: "as scripted" }],
        ["test-1", { label: "unsure", reason: "as scripted" }],
        ["test-2", { label: "no_match", reason: "as scripted" }],
      ]),
    });
  });

  it("without scenarios is answered without a call", async () => {
    assert.deepEqual(await judge().route(routing(0)), { state: "ok", labels: new Map() });
    assert.equal(server.requests.length, 0);
  });

  it("holds at most 16 scenarios a call, and every one of them once", async () => {
    const answer = await judge().route(routing(40));
    assert.deepEqual(
      server.requests.map(request => idsOf(request).length).sort((a, b) => a - b),
      [8, 16, 16],
    );
    assert.ok(answer.state === "ok");
    assert.deepEqual(
      [...answer.labels.keys()],
      routing(40).scenarios.map(({ testId }) => testId),
    );
  });

  it("names no test: the ids it carries say nothing", async () => {
    await judge().route(routing(2));
    assert.ok(!JSON.stringify(server.requests[0]!.body).includes("test-1"));
  });

  it("asks once more for the ids an answer leaves out, and for those only", async () => {
    server.script = (request, index) =>
      index === 0
        ? completion({ labels: [{ id: "s2", why: "a parcel", label: "match" }] })
        : obliging({ label: () => "no_match" })(request, index);
    const answer = await judge().route(routing(3));
    assert.deepEqual(idsOf(server.requests[1]!), ["s1", "s3"]);
    assert.ok(answer.state === "ok");
    assert.equal(answer.labels.get("test-0")!.label, "no_match");
    assert.equal(answer.labels.get("test-1")!.label, "match");
  });

  it("leaves an id that is missing twice out of the answer", async () => {
    server.script = () => completion({ labels: [{ id: "s1", why: "a parcel", label: "match" }] });
    const answer = await judge().route(routing(2));
    assert.equal(server.requests.length, 2);
    assert.ok(answer.state === "ok");
    assert.deepEqual([...answer.labels.keys()], ["test-0"]);
  });

  it("keeps what the first answer said when the second cannot be had", async () => {
    server.script = (_, index) =>
      index === 0
        ? completion({ labels: [{ id: "s1", why: "a parcel", label: "match" }] })
        : completion("Sorry?");
    const answer = await judge().route(routing(2));
    assert.ok(answer.state === "ok");
    assert.deepEqual([...answer.labels.keys()], ["test-0"]);
  });

  it("is unusable when two answers label nothing", async () => {
    server.script = () => completion({ labels: [] });
    assert.equal((await judge().route(routing(2))).state, "unusable");
  });

  it("keeps the labels of one call when another of the same trace fails", async () => {
    server.script = (request, index) =>
      idsOf(request).includes("s1") ? obliging()(request, index) : completion("I would rather not.");
    const answer = await judge().route(routing(20));
    assert.ok(answer.state === "ok");
    assert.equal(answer.labels.size, 16);
  });
});

describe("a semantic question", () => {
  for (const [word, score] of Object.entries({ met: 1, mostly: 0.75, partly: 0.4, not_met: 0 })) {
    it(`scores ${score} where the verdict is ${word}, and says what that took`, async () => {
      server.script = () => verdict(word, "in Lyon");
      const answer = await judge().ask(semantic);
      assert.ok(answer.state === "ok");
      const { spent, ...scored } = answer;
      assert.deepEqual(scored, { state: "ok", score, reason: "Because.", model: "local-model" });
      assert.ok(spent!.ms >= 0);
      assert.deepEqual(
        [spent!.inputTokens, spent!.outputTokens],
        [usage.prompt_tokens, usage.completion_tokens],
      );
    });
  }

  it("is undecided where the judge cannot tell", async () => {
    server.script = () => verdict("cannot_tell");
    assert.equal((await judge().ask(semantic)).state, "undecided");
  });

  it("is undecided where a favourable verdict rests on words the reply does not have", async () => {
    server.script = () => verdict("met", "It is in Paris.");
    assert.equal((await judge().ask(semantic)).state, "undecided");
  });

  for (const response of [":", " \n\t", "👍", "\u200b\u{e0041}\u{e0042}", "ㅤ", "---"]) {
    it(`never reaches the judge with the reply ${JSON.stringify(response)}`, async () => {
      assert.equal((await judge().ask({ ...semantic, response })).state, "undecided");
      assert.equal(server.requests.length, 0);
    });
  }

  it("carries scenario, criteria and reference as instructions, input and reply as material", async () => {
    await judge().ask({ ...semantic, reference: "In Lyon." });
    const [instructions, material] = server.requests[0]!.body.messages;
    assert.deepEqual([instructions!.role, material!.role], ["system", "user"]);
    for (const text of [semantic.scenario, semantic.criteria, "In Lyon."]) {
      assert.ok(instructions!.content.includes(JSON.stringify(text)));
      assert.ok(!material!.content.includes(text));
    }
    assert.deepEqual(materialOf(server.requests[0]!), {
      user_input: semantic.userInput,
      reply: semantic.response,
    });
    assert.ok(!instructions!.content.includes(semantic.response));
  });

  it("can be asked of a trace without user input", async () => {
    assert.equal((await judge().ask({ ...semantic, userInput: null })).state, "ok");
    assert.equal(materialOf(server.requests[0]!)["user_input"], null);
  });
});

describe("a call", () => {
  it("bears the model and the key, and offers no tools", async () => {
    await judge().ask(semantic);
    const { headers, body } = server.requests[0]!;
    assert.equal(headers.authorization, "Bearer key-1");
    assert.equal(body.model, "local-model");
    assert.ok(!("tools" in body) && !("temperature" in body) && !("max_tokens" in body));
  });

  it("asks for structured output by a strict schema that has no score and no pass", async () => {
    await judge().ask(semantic);
    const { type, json_schema } = server.requests[0]!.body.response_format!;
    assert.equal(type, "json_schema");
    assert.equal(json_schema!.strict, true);
    type Item = { properties: object; required: string[]; additionalProperties: boolean };
    const { properties } = json_schema!.schema as { properties: { verdicts: { items: Item } } };
    const item = properties.verdicts.items;
    assert.deepEqual(Object.keys(item.properties), ["id", "evidence", "reason", "verdict"]);
    assert.deepEqual(item.required, Object.keys(item.properties));
    assert.equal(item.additionalProperties, false);
  });

  it("goes to /v1 of a bare origin, and to the base of a full endpoint", async () => {
    const origin = new URL(server.url).origin;
    for (const url of [origin, `${origin}/`, `${origin}/v1/`, `${origin}/v1/chat/completions`]) {
      assert.equal((await openJudge({ ...config, url }, log).ask(semantic)).state, "ok");
    }
  });

  it("is counted with its kind, tokens and state, also when its answer is of no use", async () => {
    const calls: JudgeCall[] = [];
    const counting = openJudge(config, log, { onCall: call => calls.push(call) });
    await counting.route(routing(1));
    server.script = () => completion('{"verdicts":[{"id', "length");
    await counting.ask(semantic);
    const tokens = { inputTokens: usage.prompt_tokens, outputTokens: usage.completion_tokens };
    assert.deepEqual(
      calls.map(({ ms, ...call }) => ({ ...call, timed: ms >= 0 })),
      [
        { kind: "route", ...tokens, state: "ok", timed: true },
        { kind: "semantic", ...tokens, state: "unusable", timed: true },
      ],
    );
  });

  it("has a new mark every time", async () => {
    const asking = judge();
    await Promise.all(Array.from({ length: 8 }, () => asking.ask(semantic)));
    const marks = server.requests.map(({ body }) => body.messages[1]!.content.split("\n")[0]);
    assert.equal(new Set(marks).size, 8);
  });
});

describe("a server that refuses structured output", () => {
  const said = (modes: string[]) => modes.join(" ");
  const modesAsked = () => said(server.requests.map(({ body }) => body.response_format?.type ?? "text"));

  it("is asked for a JSON object instead, and from then on only that", async () => {
    server.script = only(["json_object"], obliging());
    const asking = judge();
    assert.equal((await asking.ask(semantic)).state, "ok");
    assert.equal((await asking.ask(semantic)).state, "ok");
    assert.equal(modesAsked(), said(["json_schema", "json_object", "json_object"]));
  });

  it("is asked for plain text at last, whose fenced JSON is read", async () => {
    const fenced = completion(
      'Here you are:\n```json\n{"verdicts":[{"id":"c1","evidence":"in Lyon","reason":"Says so.","verdict":"met"}]}\n```',
    );
    server.script = only(["text"], () => fenced);
    const asking = judge();
    assert.equal((await asking.ask(semantic)).state, "ok");
    assert.equal((await asking.ask(semantic)).state, "ok");
    assert.equal(modesAsked(), said(["json_schema", "json_object", "text", "text"]));
  });
});
