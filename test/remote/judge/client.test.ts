// Questions and their answers over a client, against a real server that speaks as each provider does.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import {
  type JudgeConnection,
  type JudgeMode,
  judgeProviders,
  type RouteAsk,
  type SemanticAsk,
} from "../../../src/model/judge/call.ts";
import { promptVersion } from "../../../src/remote/judge/prompts.ts";
import { openTestClient, serveJudge } from "../../support/judge-clients.ts";
import {
  askedOf,
  echoing,
  idsOf,
  materialOf,
  obliging,
  usage,
  verdictsOf,
} from "../../support/judge-server.ts";

const server = await serveJudge();
const open = (connection?: Partial<JudgeConnection>, mode?: JudgeMode) =>
  openTestClient(server, connection, mode);

const routing: RouteAsk = {
  userInput: "Where is my parcel?",
  scenarios: ["A parcel.", "A refund.", "A complaint."].map((scenario, at) => ({
    id: `s${at + 1}`,
    scenario,
  })),
};

const semantic: SemanticAsk = {
  userInput: "Where is my parcel?",
  replies: [
    { id: "r1", text: "It is in Lyon and arrives on Tuesday." },
    { id: "r2", text: "Anything else I can do?" },
  ],
  criteria: [
    { id: "a", replyId: "r1", scenario: "A parcel.", criterion: "Says where it is.", reference: "In Lyon." },
    {
      id: "b",
      replyId: "r1",
      scenario: "A parcel.",
      criterion: "Says when it comes.",
      reference: "In Lyon.",
    },
    { id: "c", replyId: "r2", scenario: "Any talk.", criterion: "Offers help." },
  ],
};

/** Which modes were asked in. */
const modesAsked = () => server.requests.map(({ mode }) => mode).join(" ");

const modes: Record<string, JudgeMode[]> = {
  openai: ["json_schema", "tool", "json_object", "text"],
  openai_compatible: ["json_schema", "tool", "json_object", "text"],
  anthropic: ["json_schema", "tool", "text"],
  google: ["json_schema", "tool", "json_object", "text"],
};
/** One that takes every mode. */
const models = {
  openai: "gpt-5.4",
  openai_compatible: "local-model",
  anthropic: "claude-sonnet-4-6",
  google: "gemini-2.5-flash",
};

for (const provider of judgeProviders) {
  const model = models[provider];
  suite(`over a client to ${provider}`, () => {
    for (const mode of modes[provider]!) {
      test(`scenarios are labelled and replies judged, asked for by ${mode}`, async () => {
        const { client } = open({ provider, model }, mode);
        server.script = obliging({ label: scenario => (scenario === "A refund." ? "no_match" : "match") });
        const routed = await client.route(routing);
        assert.ok(routed.code === "ok");
        assert.deepEqual(
          [...routed.value].map(([id, { label }]) => [id, label]),
          [
            ["s1", "match"],
            ["s2", "no_match"],
            ["s3", "match"],
          ],
        );
        server.script = obliging({ verdict: criterion => (criterion === "Offers help." ? "partly" : "met") });
        const judged = await client.judge(semantic);
        assert.ok(judged.code === "ok");
        assert.deepEqual(
          [...judged.value]
            .map(([id, { verdict, evidence }]) => [id, verdict, evidence])
            .toSorted(([a], [b]) => a!.localeCompare(b!)),
          [
            ["a", "met", "It is in Lyon and arrives on Tuesday."],
            ["b", "met", "It is in Lyon and arrives on Tuesday."],
            ["c", "partly", "Anything else I can do?"],
          ],
        );
        assert.equal(modesAsked(), `${mode} ${mode}`);
        assert.equal(server.requests[0]!.model, model);
      });
    }

    test("a call bears the connection's key and no other, and is not kept at the provider", async () => {
      const names = ["OPENAI", "ANTHROPIC", "GOOGLE_GENERATIVE_AI"];
      for (const name of names) {
        process.env[`${name}_API_KEY`] = "the-operators-own";
        process.env[`${name}_BASE_URL`] = "http://127.0.0.1:1/v1";
      }
      try {
        for (const apiKey of ["key-1", null]) {
          await open({ provider, model, apiKey }).client.route(routing);
          const { headers, body } = server.requests.at(-1)!;
          const sent =
            headers.authorization?.replace("Bearer", "").trim() ??
            headers["x-api-key"] ??
            headers["x-goog-api-key"];
          assert.equal(sent ?? "", apiKey ?? "");
          const text = JSON.stringify({ headers, body });
          assert.ok(!text.includes("the-operators-own"));
          assert.ok(!/"store"|"stream"/.test(text));
        }
        assert.equal(server.requests.length, 2);
      } finally {
        for (const name of names) {
          delete process.env[`${name}_API_KEY`];
          delete process.env[`${name}_BASE_URL`];
        }
      }
    });

    test("a call is told with its prompt, answer, tokens and mode", async () => {
      const { client } = open({ provider, model });
      const { call } = await client.judge(semantic);
      const { instructions, material } = server.requests[0]!;
      const { ms, startedAt, answer, ...told } = call!;
      assert.deepEqual(told, {
        kind: "semantic",
        provider,
        model,
        promptVersion,
        mode: "json_schema",
        state: "ok",
        reason: null,
        inputTokens: usage.prompt_tokens,
        outputTokens: usage.completion_tokens,
        tokensEstimated: false,
        instructions,
        material,
      });
      assert.ok(ms >= 0 && startedAt <= Date.now());
      assert.deepEqual(
        JSON.parse(answer!),
        echoing({ verdicts: verdictsOf(server.requests[0]!) }, server.requests[0]!),
      );
    });

    test("a schema binds every field, in the order of evidence before verdict, without a score or a pass", async () => {
      const { client } = open({ provider, model });
      await client.judge(semantic);
      type Item = { properties: object; required: string[]; additionalProperties: boolean };
      type Schema = { properties: { verdicts: { items: Item } } };
      const body = server.requests[0]!.body as {
        response_format?: { json_schema: { strict: boolean; schema: Schema } };
        output_config?: { format: { schema: Schema } };
        generationConfig?: { responseJsonSchema: Schema };
      };
      const schema =
        body.response_format?.json_schema.schema ??
        body.output_config?.format.schema ??
        body.generationConfig!.responseJsonSchema;
      const item = schema.properties.verdicts.items;
      assert.deepEqual(Object.keys(item.properties), [
        ...["id", "evidence", "evidence_in", "compared_with", "compared_in", "reason", "verdict"],
      ]);
      assert.deepEqual(item.required, Object.keys(item.properties));
      assert.equal(item.additionalProperties, false);
      assert.notEqual(body.response_format?.json_schema.strict, false);
    });

    test("goes to its base path of a bare origin, and to the base of a full endpoint", async () => {
      const base = server.connection({ provider }).url!;
      const { origin } = new URL(base);
      const endpoint = { anthropic: "/messages", google: `/models/${model}:generateContent` }[
        provider as string
      ];
      for (const url of [origin, `${origin}/`, `${base}/`, base + (endpoint ?? "/chat/completions")]) {
        assert.equal((await open({ provider, model, url }).client.route(routing)).code, "ok", url);
      }
    });
  });
}

suite("a question of many parts", () => {
  test("is one call for all scenarios, and one for all criteria of all replies", async () => {
    const { client } = open();
    await client.route(routing);
    await client.judge(semantic);
    const [first, second] = server.requests.map(request => askedOf(request));
    assert.ok(first!.kind === "route");
    assert.deepEqual(
      first!.scenarios.map(({ scenario }) => scenario),
      routing.scenarios.map(({ scenario }) => scenario),
    );
    assert.ok(second!.kind === "semantic");
    const asked = second!.criteria.map(({ criterion, scenario, reference, reply }) => [
      criterion,
      scenario,
      reference,
      reply,
    ]);
    for (const { criterion, scenario, reference, replyId } of semantic.criteria) {
      const { text } = semantic.replies.find(({ id }) => id === replyId)!;
      assert.ok(
        asked.some(one => JSON.stringify(one) === JSON.stringify([criterion, scenario, reference, text])),
      );
    }
    assert.equal(asked.length, semantic.criteria.length);
  });

  test("carries what the author wrote as instructions, and what the trace brought as material alone", async () => {
    const { client } = open();
    await client.judge(semantic);
    const { instructions, material } = server.requests[0]!;
    for (const { scenario, criterion } of semantic.criteria) {
      assert.ok(
        instructions.includes(JSON.stringify(scenario)) && instructions.includes(JSON.stringify(criterion)),
      );
      assert.ok(!material.split("\nEND OF MATERIAL")[0]!.includes(criterion));
    }
    const { userInput, replies } = semantic;
    assert.deepEqual(materialOf(server.requests[0]!), {
      ...{ userInput, replies, conversation: null, earlier: [] },
    });
    assert.ok(!/Lyon and arrives|Where is my/.test(instructions));
  });

  test("can be asked of a trace without user input", async () => {
    const { client } = open();
    assert.equal((await client.judge({ ...semantic, userInput: null })).code, "ok");
    assert.equal(materialOf(server.requests[0]!).userInput, null);
  });

  test("has a new mark every time", async () => {
    const { client } = open();
    await Promise.all(Array.from({ length: 8 }, () => client.judge(semantic)));
    const marks = server.requests.map(({ material }) => material.split("\n")[0]);
    assert.equal(new Set(marks).size, 8);
    assert.ok(marks.every(mark => /^MATERIAL [\da-f]{24}$/.test(mark!)));
  });
});

test("ids of a prompt name neither tests nor what the asker calls them", async () => {
  const { client } = open();
  const criteria = semantic.criteria.map((one, at) => ({ ...one, id: `test-${at}-secret` }));
  await client.judge({ ...semantic, criteria });
  assert.ok(!JSON.stringify(server.requests[0]!.body).includes("secret"));
  for (const id of idsOf(server.requests[0]!)) assert.match(id, /^c[1-5]$/);
});
