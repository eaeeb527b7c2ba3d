// What a failed response of a judge means: the errors of real servers and gateways, word for word.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { JudgeConnection } from "../../../src/model/judge/call.ts";
import { reasonText } from "../../../src/model/run/reason-text.ts";
import { openTestClient, serveJudge } from "../../support/judge-clients.ts";
import { json, obliging, type Reply, raw, type Script } from "../../support/judge-server.ts";

const server = await serveJudge();

const routing = { userInput: "Where is my parcel?", scenarios: [{ id: "s1", scenario: "A parcel." }] };

async function failureOf(script: Script, connection: Partial<JudgeConnection> = {}) {
  server.script = script;
  const { client } = openTestClient(server, connection);
  const reply = await client.route(routing);
  assert.ok(reply.code !== "ok");
  return [reply.code, reply.detail.code, reasonText(reply.detail), reply.retryAt !== null] as const;
}

const openAi = (status: number, message: string, more: object = {}): Reply =>
  json(status, { error: { message, type: "invalid_request_error", param: null, code: null, ...more } });

/** As its proxy formats every exception: the status as text, and what is unknown as "None". */
const liteLlm = (status: number, message: string, type = "None"): Reply =>
  json(status, { error: { message, type, param: "None", code: String(status) } });

const upstream = "litellm.RateLimitError: RateLimitError: OpenAIException - ";

const cases: Record<string, [what: string, reply: Reply, connection?: Partial<JudgeConnection>][]> = {
  "refused judge_tls_required": [
    [
      "nginx",
      raw(
        400,
        "text/html",
        "<html>\r\n<head><title>400 The plain HTTP request was sent to HTTPS port</title></head>\r\n<body></body></html>",
      ),
    ],
    ["Go", raw(400, "text/plain", "Client sent an HTTP request to an HTTPS server.\n")],
    [
      "Apache",
      raw(
        400,
        "text/html",
        "<!DOCTYPE HTML><html><body><p>Reason: You're speaking plain HTTP to an SSL-enabled server port.<br /></p></body></html>",
      ),
    ],
  ],
  "refused judge_model_unknown": [
    [
      "OpenAI",
      openAi(404, "The model `gpt-9` does not exist or you do not have access to it.", {
        code: "model_not_found",
      }),
    ],
    ["Ollama", openAi(404, 'model "llama9" not found, try pulling it first', { type: "not_found_error" })],
    [
      "vLLM",
      json(404, {
        object: "error",
        message: "The model `a/b-1.5` does not exist.",
        type: "NotFoundError",
        code: 404,
      }),
    ],
    ["OpenRouter", json(400, { error: { message: "a/b is not a valid model ID", code: 400 } })],
    [
      "LiteLLM",
      liteLlm(
        400,
        "{'error': '/chat/completions: Invalid model name passed in model=gpt-9. Call `/v1/models` to view available models for your key.'}",
      ),
    ],
    [
      "Anthropic",
      json(404, { type: "error", error: { type: "not_found_error", message: "model: claude-9" } }),
      { provider: "anthropic" },
    ],
    [
      "Google",
      json(404, {
        error: {
          code: 404,
          message: "models/gemini-9 is not found for API version v1beta.",
          status: "NOT_FOUND",
        },
      }),
      { provider: "google" },
    ],
  ],
  "refused judge_not_found": [
    ["a page", raw(404, "text/html", "<h1>404</h1>")],
    [
      "MLflow, 500",
      json(500, { detail: { error_code: "RESOURCE_DOES_NOT_EXIST", message: "Endpoint 'judge' not found" } }),
    ],
    ["a gateway, 500", json(500, { detail: "No such endpoint: judge" })],
  ],
  "refused judge_url_unknown": [
    ["FastAPI", json(404, { detail: "Not Found" })],
    ["FastAPI, 405", json(405, { detail: "Method Not Allowed" })],
    ["LM Studio, with 200", json(200, { error: "Unexpected endpoint or method. (POST /chat/completions)" })],
    ["OpenAI", openAi(404, "Invalid URL (POST /v2/chat/completions)")],
  ],
  "later judge_gateway_budget_exceeded": [
    [
      "LiteLLM, 422",
      liteLlm(422, "Budget has been exceeded! Current cost: 0.2, Max budget: 0.1", "budget_exceeded"),
    ],
    ["LiteLLM, 400", liteLlm(400, "Budget has been exceeded! Current cost: 0.2, Max budget: 0.1")],
    ["LiteLLM, of a user", liteLlm(429, "ExceededBudget: User=u1 over budget. Spend=2, Budget=1")],
    [
      "MLflow",
      json(429, {
        detail:
          "Budget limit exceeded. Limit: $1.00 USD per 1 day. Budget resets at 2026-11-23T00:00:00Z. Request rejected.",
      }),
    ],
  ],
  "later judge_quota_exceeded": [
    ["OpenAI", openAi(429, "You exceeded your current quota.", { code: "insufficient_quota" })],
    [
      "OpenAI through LiteLLM",
      liteLlm(
        429,
        `${upstream}You exceeded your current quota, please check your plan and billing details.`,
        "throttling_error",
      ),
    ],
    [
      "OpenAI through MLflow",
      json(429, { detail: "You exceeded your current quota, please check your plan and billing details." }),
    ],
    ["DeepSeek", openAi(402, "Insufficient Balance")],
    ["OpenRouter, with 200", json(200, { error: { code: 402, message: "Insufficient credits" } })],
  ],
  "later judge_http_error": [
    [
      "a rate limit through LiteLLM",
      liteLlm(
        429,
        `${upstream}Rate limit reached for gpt-5.4 in organization org-1 on requests per min.`,
        "throttling_error",
      ),
    ],
    [
      "OpenRouter, with 200",
      json(200, { error: { code: 429, message: "Rate limit exceeded: free-models-per-min" } }),
    ],
    [
      "a gateway, with 200 and the status as text",
      json(200, { error: { code: "503", message: "Overloaded" } }),
    ],
    [
      "Google's limit per minute, which it calls a quota",
      json(429, {
        error: {
          ...{
            code: 429,
            message: "You exceeded your current quota, please check your plan.",
            status: "RESOURCE_EXHAUSTED",
          },
          details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "21s" }],
        },
      }),
      { provider: "google" },
    ],
    ["a 500 that only says so", openAi(500, "The server had an error while processing your request.")],
  ],
  "refused judge_key_rejected": [
    ["LiteLLM without a database", liteLlm(400, "No connected db.", "no_db_connection")],
    [
      "LiteLLM with one",
      liteLlm(401, "Authentication Error, Invalid proxy server token passed.", "token_not_found_in_db"),
    ],
    ["OpenAI", openAi(401, "Incorrect API key provided: key-1.", { code: "invalid_api_key" })],
    ["a gateway's own FastAPI", json(401, { detail: "Invalid API key" })],
    [
      "Anthropic",
      json(401, {
        type: "error",
        error: { type: "authentication_error", message: "x-api-key header is required" },
      }),
      { provider: "anthropic" },
    ],
  ],
  "refused judge_upstream_rejected": [
    [
      "LiteLLM",
      liteLlm(
        401,
        "litellm.AuthenticationError: AuthenticationError: OpenAIException - Incorrect API key provided: sk-1.",
      ),
    ],
    [
      "LiteLLM, 403",
      liteLlm(403, "litellm.PermissionDeniedError: AnthropicException - Your request was blocked."),
    ],
    [
      "MLflow",
      json(401, {
        detail: "Incorrect API key provided: sk-1. You can find your API key at https://platform.openai.com.",
      }),
    ],
  ],
  "refused judge_model_denied": [
    [
      "LiteLLM",
      liteLlm(
        401,
        "key not allowed to access model. This key can only access models=['a'].",
        "key_model_access_denied",
      ),
    ],
    [
      "OpenAI",
      openAi(403, "Project `proj_1` does not have access to model `gpt-5.4`", { code: "model_not_found" }),
    ],
    ["Bedrock", json(403, { message: "You don't have access to the model with the specified model ID." })],
  ],
  "refused judge_header_missing": [
    [
      "Portkey",
      json(400, {
        status: "failure",
        message: "Either x-portkey-config or x-portkey-provider header is required",
      }),
    ],
    [
      "FastAPI",
      json(422, {
        detail: [{ type: "missing", loc: ["header", "x-tenant"], msg: "Field required", input: null }],
      }),
    ],
  ],
  "unusable judge_context_exceeded": [
    [
      "llama.cpp",
      json(400, {
        error: {
          code: 400,
          message:
            "request (9412 tokens) exceeds the available context size (8192 tokens), try increasing it",
          type: "exceed_context_size_error",
        },
      }),
    ],
    [
      "OpenAI",
      openAi(400, "This model's maximum context length is 128000 tokens.", {
        code: "context_length_exceeded",
      }),
    ],
    [
      "Anthropic",
      json(400, {
        type: "error",
        error: {
          type: "invalid_request_error",
          message: "prompt is too long: 210000 tokens > 200000 maximum",
        },
      }),
      { provider: "anthropic" },
    ],
    [
      "llama.cpp behind a gateway that wraps it",
      json(400, { detail: '{"error":{"type":"exceed_context_size_error"}}' }),
    ],
  ],
  "unusable judge_answer_malformed": [
    [
      "llama.cpp",
      json(500, {
        error: {
          code: 500,
          message: "The model produced output that does not match the expected peg-native format",
          type: "server_error",
        },
      }),
    ],
    [
      "Groq",
      openAi(400, "Failed to generate JSON. Please adjust your prompt.", { code: "json_validate_failed" }),
    ],
  ],
  "unusable judge_request_rejected": [
    ["a 400 that is about anything else", openAi(400, "messages: too many")],
  ],
  "unusable judge_not_a_model": [
    ["a 200 with an error of no known kind", json(200, { error: { message: "hm" } })],
  ],
};

for (const [outcome, servers] of Object.entries(cases)) {
  suite(`a failure that is ${outcome}`, () => {
    for (const [who, reply, connection] of servers) {
      test(`is known as ${who} words it, and asked once`, async () => {
        const [code, reason, sentence] = await failureOf(() => reply, connection);
        assert.equal(`${code} ${reason}`, outcome);
        assert.match(sentence, /^[A-Z][^\n]+\.$/);
        assert.equal(server.requests.length, 1);
      });
    }
  });
}

suite("a failed response", () => {
  test("that repeats the prompt is not judged by what a trace has in it", async () => {
    const [code] = await failureOf(({ instructions, material }) =>
      openAi(
        400,
        `Invalid request: ${instructions}\n${material} The model does not exist. Budget has been exceeded`,
      ),
    );
    assert.equal(code, "unusable");
  });

  test("is read whatever its code is", async () => {
    const [code, detail] = await failureOf(() => openAi(503, "Overloaded", { code: { toString: 1 } }));
    assert.deepEqual([code, detail], ["later", "judge_http_error"]);
  });

  test("names the wait that its provider asked of the gateway", async () => {
    server.script = () =>
      json(429, { error: { message: "Slow down", code: "429" } }, { "llm_provider-retry-after": "7" });
    const { client } = openTestClient(server);
    const before = Date.now();
    const reply = await client.route(routing);
    assert.ok(reply.code === "later" && reply.retryAt! >= before + 7_000);
    assert.match(reasonText(reply.detail), /429 \(not called again for 7 s\)/);
  });
});

suite("a model that takes no system role", () => {
  const noSystem =
    (reply: Reply): Script =>
    (request, index) => {
      const { messages, system, systemInstruction } = request.body as Record<string, { role: string }[]>;
      const has = system ?? systemInstruction ?? messages?.some(({ role }) => role === "system");
      return has ? reply : obliging()(request, index);
    };
  for (const [who, reply, connection] of [
    ["vLLM", openAi(400, "System role not supported"), {}],
    ["llama.cpp", openAi(500, "Jinja Exception: System role not supported"), {}],
    [
      "OpenAI",
      openAi(400, "Unsupported value: 'messages[0].role' does not support 'system' with this model."),
      { provider: "openai" },
    ],
    [
      "Google",
      json(400, {
        error: {
          code: 400,
          message: "Developer instruction is not enabled for models/gemma-3-12b-it",
          status: "INVALID_ARGUMENT",
        },
      }),
      { provider: "google" },
    ],
  ] as [string, Reply, Partial<JudgeConnection>][]) {
    test(`is asked without one, in the same mode: ${who}`, async () => {
      server.script = noSystem(reply);
      const { client } = openTestClient(server, connection);
      const answer = await client.route(routing);
      assert.equal(answer.code, "ok");
      assert.deepEqual(
        server.requests.map(({ mode }) => mode),
        // A question of our own finds out whether that holds for all.
        Array(4).fill("json_schema"),
      );
      const [first, second] = server.requests;
      assert.deepEqual([second!.instructions, second!.material], [first!.instructions, first!.material]);
    });
  }

  test("is asked without one from then on", async () => {
    server.script = noSystem(openAi(400, "System role not supported"));
    const { client } = openTestClient(server);
    await client.route(routing);
    await client.route(routing);
    assert.equal(server.requests.length, 5);
  });

  test("is told so where that changes nothing", async () => {
    const [code, reason] = await failureOf(() =>
      openAi(400, "Conversation roles must alternate user/assistant"),
    );
    assert.deepEqual([code, reason], ["unusable", "judge_system_role_rejected"]);
    assert.equal(server.requests.length, 2);
  });
});
