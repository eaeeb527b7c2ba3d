// How an answer's shape is asked for: found out at the server, kept, and read alike in every way.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { JudgeConnection, JudgeMode, RouteAsk, SemanticAsk } from "../../../src/model/judge/call.ts";
import { openTestClient, serveJudge } from "../../support/judge-clients.ts";
import {
  completion,
  echoing,
  obliging,
  only,
  refusal,
  type Script,
  verdictsOf,
} from "../../support/judge-server.ts";

const server = await serveJudge();
const open = (connection?: Partial<JudgeConnection>, mode?: JudgeMode) =>
  openTestClient(server, connection, mode);

const routing: RouteAsk = {
  userInput: "Where is my parcel?",
  scenarios: [{ id: "s1", scenario: "A parcel." }],
};

const semantic: SemanticAsk = {
  userInput: "Where is my parcel?",
  replies: [{ id: "r1", text: "It is in Lyon and arrives on Tuesday." }],
  criteria: [{ id: "a", replyId: "r1", scenario: "A parcel.", criterion: "Says where it is." }],
};

/** Which modes were asked in. */
const modesAsked = () => server.requests.map(({ mode }) => mode).join(" ");

suite("the way in which an answer's shape is asked for", () => {
  test("is the next weaker where the server refuses one, from then on only that, and is told once it was answered", async () => {
    for (const [taken, asked] of [
      ["tool", "json_schema tool"],
      ["json_object", "json_schema tool json_object"],
      ["text", "json_schema tool json_object text"],
    ] as const) {
      server.requests.length = 0;
      server.script = only([taken], obliging());
      const { client, learned } = open();
      const reply = await client.judge(semantic);
      assert.equal(reply.code, "ok");
      assert.equal(reply.call!.mode, taken);
      assert.equal((await client.route(routing)).code, "ok");
      // A question of our own finds out whether what was refused for one is refused for all.
      assert.equal(modesAsked(), `${asked} ${asked} ${taken}`);
      assert.deepEqual(learned, [taken]);
    }
  });

  test("is at once the one that is known to work", async () => {
    const { client, learned } = open({}, "text");
    await client.judge(semantic);
    assert.equal(modesAsked(), "text");
    assert.deepEqual(learned, []);
  });

  test("is the next weaker that the provider has, where it has none such", async () => {
    await open({ provider: "anthropic", model: "claude-sonnet-4-6" }, "json_object").client.judge(semantic);
    assert.equal(modesAsked(), "text");
  });

  test("is not learned from an answer of no use", async () => {
    server.script = () => completion("I would rather talk.");
    const { client, learned } = open();
    assert.equal((await client.judge(semantic)).code, "unusable");
    assert.deepEqual(learned, []);
  });

  // As servers are known to word it.
  const refusals: [who: string, mode: JudgeMode, script: Script][] = [
    [
      "llama.cpp",
      "json_schema",
      () => refusal(500, { message: 'Either "json_schema" or "grammar" can be specified, but not both' }),
    ],
    [
      "llama.cpp without templates",
      "tool",
      () => refusal(500, { message: "tools param requires --jinja flag" }),
    ],
    [
      "Ollama",
      "tool",
      () => refusal(400, { message: "registry.ollama.ai/library/gemma:2b does not support tools" }),
    ],
    [
      "LM Studio",
      "json_object",
      () => refusal(400, { message: "'response_format.type' must be 'json_schema'" }),
    ],
    ["OpenRouter", "tool", () => refusal(404, { message: "No endpoints found that support tool use." })],
    ["DeepSeek", "tool", () => refusal(400, { message: "Thinking mode does not support this tool_choice" })],
    [
      "DeepSeek",
      "json_schema",
      () => refusal(400, { message: "This response_format type is unavailable now" }),
    ],
  ];
  for (const [who, mode, script] of refusals) {
    test(`is understood to be refused: ${mode} by ${who}`, async () => {
      server.script = (request, index) => (index === 0 ? script(request, index) : obliging()(request, index));
      const reply = await open({}, mode).client.judge(semantic);
      assert.equal(reply.code, "ok");
      assert.notEqual(server.requests[1]!.mode, mode);
    });
  }

  test("is not given up for a glitch, nor for what one question says, however often it is asked", async () => {
    const glitch = refusal(500, { message: "failed to parse grammar" });
    const rejected = refusal(400, { message: "response_format: the text cannot be put into the schema" });
    for (const [reply, isHit] of [
      [glitch, (index: number) => index === 0],
      [rejected, (_: number, material: string) => material.includes("Where is my parcel? It")],
    ] as const) {
      server.requests.length = 0;
      server.script = (request, index) =>
        request.mode === "json_schema" && isHit(index, request.material) ? reply : obliging()(request, index);
      const { client, learned } = open();
      const hostile = { ...semantic, userInput: "Where is my parcel? It must be in Lyon." };
      for (let calls = 0; calls < 2; calls++) assert.equal((await client.judge(hostile)).code, "ok");
      assert.match(modesAsked(), /^json_schema tool json_schema/);
      const { call } = await client.judge(semantic);
      assert.equal(call!.mode, "json_schema");
      assert.deepEqual(learned, ["json_schema"]);
    }
  });

  test("is found out once for calls that are refused at the same time", async () => {
    server.script = only(["tool"], obliging());
    const { client, learned } = open();
    const replies = await Promise.all([1, 2, 3].map(() => client.judge(semantic)));
    assert.ok(replies.every(({ code }) => code === "ok"));
    assert.deepEqual([learned, server.requests.length], [["tool"], 8]);
  });

  test("is refused by Google and Anthropic in their own words", async () => {
    for (const [provider, model, message] of [
      ["google", "gemini-2.5-flash", "Json mode is not enabled for models/gemma-3-27b-it"],
      ["anthropic", "claude-sonnet-4-6", "output_config.format: Extra inputs are not permitted"],
    ] as const) {
      server.requests.length = 0;
      server.script = (request, index) =>
        index === 0 ? refusal(400, { message }) : obliging()(request, index);
      assert.equal((await open({ provider, model }).client.judge(semantic)).code, "ok");
      assert.match(modesAsked(), /^json_schema tool/);
    }
  });

  test("may be answered in prose around one fence, in thoughts before JSON, or as text in place of a tool's call", async () => {
    const { client } = open({}, "tool");
    for (const around of [
      (json: string) => `Here you are:\n\`\`\`json\n${json}\n\`\`\``,
      (json: string) => `<think>Hm. {"verdicts":[]}</think>\n${json}`,
    ]) {
      server.script = request => (response, asked) =>
        completion(around(JSON.stringify(echoing({ verdicts: verdictsOf(request) }, request))))(response, {
          ...asked,
          mode: "text",
        });
      assert.equal((await client.judge(semantic)).code, "ok");
    }
  });

  test("of a model that refuses forced tools is one tool it may use", async () => {
    const { client } = open({ provider: "anthropic", model: "claude-opus-5-5" }, "tool");
    assert.equal((await client.judge(semantic)).code, "ok");
    const { tools, tool_choice } = server.requests[0]!.body as {
      tools: object[];
      tool_choice: { type: string };
    };
    assert.deepEqual([tools.length, tool_choice.type], [1, "auto"]);
  });
});

suite("the temperature", () => {
  const temperatures = () => server.requests.map(({ body }) => body["temperature"]);

  test("is 0 for a first answer and the model's own for further votes", async () => {
    const { client } = open();
    await client.judge(semantic);
    await client.judge(semantic, undefined, 2);
    await client.route(routing);
    assert.deepEqual(temperatures(), [0, undefined, 0]);
  });

  for (const message of [
    "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
    "litellm.UnsupportedParamsError: gpt-5 models don't support temperature=0.",
    "`temperature` may only be set to 1 when thinking is enabled.",
  ]) {
    test(`is left out from then on where the model takes no other: ${message}`, async () => {
      server.script = (request, index) =>
        "temperature" in request.body ? refusal(400, { message }) : obliging()(request, index);
      const { client, learned } = open();
      for (let calls = 0; calls < 2; calls++) assert.equal((await client.judge(semantic)).code, "ok");
      assert.deepEqual(temperatures(), [0, undefined, 0, undefined, undefined]);
      assert.equal(modesAsked(), Array(5).fill("json_schema").join(" "));
      assert.deepEqual(learned, ["json_schema"]);
    });
  }
});
