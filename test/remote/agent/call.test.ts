// A turn reaches agents of every type in the format they expect, and every failure is a reply with a reason.
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import type { AgentTurn } from "../../../src/model/agent/call.ts";
import { type AgentConnection, parseConnection } from "../../../src/model/agent/connection.ts";
import { callAgent } from "../../../src/remote/agent/call.ts";
import { openOutbound } from "../../../src/remote/outbound.ts";
import {
  type AgentScript,
  type AgentServer,
  brokenJson,
  completions,
  crashing,
  endless,
  failing,
  flowise,
  httpAgent,
  langflow,
  n8nChat,
  n8nChatStreaming,
  n8nStarted,
  n8nWebhook,
  sendJson,
  silent,
  startAgentServer,
  toMetadata,
} from "../../support/agent-server.ts";

const outbound = openOutbound({ allow: ["127.0.0.0/8"] });
const agent: AgentServer = await startAgentServer();
after(async () => {
  await outbound.close();
  await agent.close();
});

const turn: AgentTurn = {
  input: 'Where is my "order"?\nNo. 7 🚚 {{history}}',
  history: [
    { role: "user", content: "Hello" },
    { role: "assistant", content: "Hi!" },
  ],
  conversationId: "conversation-1",
  requestId: "run-1",
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
};
const said = `You said: ${turn.input}`;

function connection(type: AgentConnection["type"], document: object): AgentConnection {
  return parseConnection(document, type, undefined);
}

function http(document: object = {}): AgentConnection {
  return connection("http_api", {
    url: `${agent.url}/chat`,
    bodyTemplate: '{"message": "{{input}}"}',
    reply: { kind: "json", pointer: "/reply" },
    ...document,
  });
}

async function call(script: AgentScript, to: AgentConnection, signal?: AbortSignal) {
  agent.script = script;
  agent.requests.length = 0;
  const reply = await callAgent(outbound, to, turn, signal);
  assert.ok(reply.ms >= 0 && reply.startedAt instanceof Date);
  return { reply, request: agent.requests[0]! };
}

suite("an HTTP agent", () => {
  test("receives the filled-in body, its headers and the ids of the turn", async () => {
    const bodyTemplate = `{"message": "{{input}}", "all": "{{messages}}", "before": "{{history}}",
      "ids": ["{{conversation_id}}/{{request_id}}"], "number": 1.5}`;
    const headers = [
      { name: "Authorization", value: "Bearer 1" },
      { name: "X-Tenant", value: "acme" },
    ];
    const { reply, request } = await call(httpAgent, http({ method: "PUT", bodyTemplate, headers }));
    assert.deepEqual([reply.status, reply.text, reply.error], [200, said, null]);
    assert.equal(reply.contentType, "application/json; charset=utf-8");
    assert.deepEqual([request.method, request.path], ["PUT", "/chat"]);
    assert.deepEqual(request.body, {
      message: turn.input,
      all: [...turn.history, { role: "user", content: turn.input }],
      before: turn.history,
      ids: ["conversation-1/run-1"],
      number: 1.5,
    });
    const { authorization, "x-tenant": tenant, "x-request-id": id, traceparent } = request.headers;
    assert.deepEqual(
      [authorization, tenant, id, traceparent],
      ["Bearer 1", "acme", "run-1", turn.traceparent],
    );
    assert.equal(request.headers["content-type"], "application/json");
  });

  test("may reply with text alone", async () => {
    const { reply } = await call(
      (_request, response) => response.writeHead(200, { "content-type": "text/plain" }).end("Hello!"),
      http({ reply: { kind: "text" } }),
    );
    assert.deepEqual([reply.text, reply.error], ["Hello!", null]);
  });

  test("may stream its reply: the texts of the events are joined, up to the configured last event", async () => {
    const bodyTemplate = '{"stream": true, "messages": "{{messages}}"}';
    const reply = { kind: "json", pointer: "/choices/0/delta/content" };
    const streamed = await call(completions, http({ bodyTemplate, reply }));
    assert.deepEqual([streamed.reply.text, streamed.reply.error], [said, null]);
    assert.equal(streamed.request.body.messages.length, 3);
    const whole = await call(
      completions,
      http({
        bodyTemplate: '{"messages": "{{messages}}"}',
        reply: { kind: "json", pointer: "/choices/0/message/content" },
      }),
    );
    assert.equal(whole.reply.text, said);
  });

  test("may stream plain text, with a last event that is cut off", async () => {
    const { reply } = await call(
      (_request, response) =>
        response
          .writeHead(200, { "content-type": "text/event-stream" })
          .end("event: token\ndata: Hel\n\ndata: lo\ndata: you"),
      http({ reply: { kind: "text" } }),
    );
    assert.equal(reply.text, "Hello\nyou");
  });

  test("a stream is read only up to its [DONE], even if the connection stays open", async () => {
    const { reply } = await call(
      (_request, response) =>
        response
          .writeHead(200, { "content-type": "text/event-stream" })
          .write('data: {"reply": "Hel"}\n\ndata: {"reply": "lo"}\n\ndata: [DONE]\n\n'),
      http(),
    );
    assert.deepEqual([reply.text, reply.error], ["Hello", null]);
  });

  test("a stream may use any line ending, contain comments, repeat its fields, and arrive byte by byte", async () => {
    const stream =
      "\ufeff: hello\r\n\r\nid: 1\r\nretry: 5\r\nevent: token\r\ndata:Héllo\r\ndata\r\ndata: you\r\n\r\n" +
      "data: , \r\r:\n\nother: field\ndata: and all\n\n";
    const { reply } = await call(
      async (_request, response) => {
        response.writeHead(200, { "content-type": "Text/Event-Stream;charset=UTF-8" });
        for (const byte of Buffer.from(stream)) {
          await new Promise(resolve => response.write(Buffer.of(byte), resolve));
        }
        response.end();
      },
      http({ reply: { kind: "text" } }),
    );
    assert.deepEqual([reply.text, reply.error], ["Héllo\n\nyou, and all", null]);
  });

  for (const [name, event, why] of [
    ["an event of that name", 'event: error\ndata: {"message": "out of order"}\n\n', "the event error"],
    ["its data", 'data: {"error": {"message": "out of order"}}\n\n', "an event with an error at /error"],
  ]) {
    test(`a stream that reports an error by ${name} is not a reply, whatever came before`, async () => {
      const { reply } = await call(
        (_request, response) =>
          response
            .writeHead(200, { "content-type": "text/event-stream" })
            .end(`data: {"reply": "Hel", "error": null}\n\n${event}data: [DONE]\n\n`),
        http(),
      );
      assert.deepEqual(
        [reply.text, reply.error],
        [null, { code: "bad_reply", reason: `The reply is a stream that failed: it has ${why}.` }],
      );
    });
  }

  const charsets: [contentType: string, body: Buffer][] = [
    ["text/plain; charset=ISO-8859-1", Buffer.from("Größe", "latin1")],
    ['text/plain; format=flowed; charset="utf-16le"', Buffer.from("Größe", "utf16le")],
    ["text/plain; charset=unheard-of", Buffer.from("Größe")],
    ["text/plain", Buffer.from("\ufeffGröße")],
  ];
  for (const [contentType, body] of charsets) {
    test(`a reply in ${contentType} is decoded with its charset`, async () => {
      const { reply } = await call(
        (_request, response) => response.writeHead(200, { "content-type": contentType }).end(body),
        http({ reply: { kind: "text" } }),
      );
      assert.equal(reply.text, "Größe");
    });
  }

  test("a stream of completions that breaks off before its end is no reply", async () => {
    const chunk = (content: string, finish_reason: string | null) =>
      `data: ${JSON.stringify({ choices: [{ delta: { content }, finish_reason }] })}\n\n`;
    const reply = { kind: "json", pointer: "/choices/0/delta/content" };
    const textOf = async (...chunks: string[]) => {
      const answer: AgentScript = (_request, response) =>
        response.writeHead(200, { "content-type": "text/event-stream" }).end(chunks.join(""));
      return (await call(answer, http({ reply }))).reply.text;
    };
    assert.equal(await textOf(chunk("Hel", null), chunk("lo", null)), null);
    assert.equal(await textOf(chunk("Hel", null), chunk("lo", "stop")), "Hello");
    assert.equal(await textOf(chunk("Hel", null), chunk("lo", null), "data: [DONE]\n\n"), "Hello");
  });

  test("a stream without a text at the configured place is unreadable", async () => {
    const { reply } = await call(
      (_request, response) =>
        response.writeHead(200, { "content-type": "text/event-stream" }).end('data: {"a": 1}\n\ndata: b\n\n'),
      http(),
    );
    assert.equal(reply.error?.reason, "The reply is a stream in which no event has a text at /reply.");
  });

  const pointers: [pointer: string, body: unknown, text: string | null][] = [
    ["", "Hello", "Hello"],
    ["/a~1b/m~0n", { "a/b": { "m~n": "Hello" } }, "Hello"],
    ["/list/1", { list: ["a", "b"] }, "b"],
    ["/number", { number: 7 }, "7"],
    ["/list", { list: ["a"] }, null],
    ["/list/length", { list: ["a"] }, null],
    ["/toString", {}, null],
    ["/reply", { reply: null }, null],
    ["/reply", ["a"], null],
  ];
  for (const [pointer, body, text] of pointers) {
    test(`at ${pointer || "the top"} of ${JSON.stringify(body)} the text is ${text}`, async () => {
      const { reply } = await call(
        (_request, response) => sendJson(response, body),
        http({ reply: { kind: "json", pointer } }),
      );
      assert.deepEqual([reply.text, reply.error?.code], [text, text === null ? "bad_reply" : undefined]);
    });
  }
});

suite("what looks like a reply", () => {
  const plain = { reply: { kind: "text" } };
  const at = (pointer: string) => ({ reply: { kind: "json", pointer } });
  const answered = (type: string, body: string | Buffer, to: AgentConnection) =>
    call((_request, response) => response.writeHead(200, { "content-type": type }).end(body), to);
  const page = "<!-- 1 -->\n<!DOCTYPE html><html><body>Sign in</body></html>";
  const json = "application/json";

  const errors: [name: string, type: string, body: string | Buffer, document: object, why: string][] = [
    ["a page", "text/plain", page, plain, "is HTML, not plain text"],
    ["a fragment", "text/html", "<h1>502 Bad Gateway</h1>", plain, "is HTML, not plain text"],
    ["a page for JSON", "text/html", page, {}, "is HTML, not JSON"],
    ["Latin-1", json, Buffer.from('{"reply":"Größe"}', "latin1"), {}, "is not valid UTF-8"],
    [
      "a text cut in a character",
      "text/plain",
      Buffer.from("Größe").subarray(0, 3),
      plain,
      "is not valid UTF-8",
    ],
    [
      "an error beside the text",
      json,
      '{"reply":"Sorry","error":"Overloaded"}',
      {},
      "has an error at /error",
    ],
    ["an error in its place", json, '{"error":{"code":1}}', {}, "has an error at /error"],
    ["an error for plain text", json, ' {"error":true}', plain, "has an error at /error"],
    [
      "an error around the text",
      json,
      '{"choices":[{"error":{"code":502},"message":{"content":"Hel"}}]}',
      at("/choices/0/message/content"),
      "has an error at /choices/0/error",
    ],
  ];
  for (const [name, type, body, document, why] of errors) {
    test(`is an agent error: ${name}`, async () => {
      const { error, text } = (await answered(type, body, http(document))).reply;
      assert.deepEqual([text, error], [null, { code: "bad_reply", reason: `The reply ${why}.` }]);
    });
  }

  const replies: [type: string, body: string, document: object, text: string][] = [
    // Flask and Express send plain text as text/html.
    ["text/html; charset=utf-8", "Hello", plain, "Hello"],
    ["text/html", "<think>Short.</think>Hello", plain, "<think>Short.</think>Hello"],
    ["text/plain", "Use <html> as the root element.", plain, "Use <html> as the root element."],
    ["text/html", '{"reply":"<p>Hello</p>"}', {}, "<p>Hello</p>"],
    [json, '{"reply":"Hello","error":[],"data":{"error":"x"}}', {}, "Hello"],
    [json, '{"reply":"Hello","error":" "}', {}, "Hello"],
    [json, '{"error":{"text":"Hello"}}', at("/error/text"), "Hello"],
    ["text/plain; charset=iso-8859-1", "Hello", plain, "Hello"],
  ];
  for (const [type, body, document, text] of replies) {
    test(`is one: ${body} as ${type}`, async () => {
      const { reply } = await answered(type, body, http(document));
      assert.deepEqual([reply.text, reply.error], [text, null]);
    });
  }

  for (const status of [301, 302, 303]) {
    test(`is an agent error after ${status}, which would drop the message`, async () => {
      const { reply } = await call((_request, response) => {
        response.writeHead(status, { location: "/login" }).end("Moved");
      }, http(plain));
      assert.deepEqual([reply.status, reply.error?.code, agent.requests.length], [status, "http_status", 1]);
      assert.match(reply.error!.reason, /a redirect that would drop the message/);
    });
  }
});

suite("a stream", () => {
  const streamed = async (pointer: string, ...events: (object | string)[]) => {
    const body = events.map(event =>
      typeof event === "string" ? `${event}\n\n` : `data: ${JSON.stringify(event)}\n\n`,
    );
    const { reply } = await call(
      (_request, response) =>
        response.writeHead(200, { "content-type": "text/event-stream" }).end(body.join("")),
      http({ reply: { kind: "json", pointer } }),
    );
    return reply;
  };

  const failures: [name: string, pointer: string, text: object, failure: object | string, why: string][] = [
    [
      "Dify",
      "/answer",
      { event: "message", answer: "Hel" },
      { event: "error", message: "x" },
      "the event error",
    ],
    [
      "a Dify workflow",
      "/answer",
      { event: "message", answer: "Hel" },
      { event: "workflow_finished", data: { status: "failed" } },
      "an event with an error at /data/status",
    ],
    [
      "the AI SDK",
      "/delta",
      { type: "text-delta", delta: "Hel" },
      { type: "error", errorText: "x" },
      "the event error",
    ],
    [
      "AG-UI",
      "/delta",
      { type: "TEXT_MESSAGE_CONTENT", delta: "Hel" },
      { type: "RUN_ERROR", message: "x" },
      "the event RUN_ERROR",
    ],
    [
      "the Responses API",
      "/delta",
      { type: "response.output_text.delta", delta: "Hel" },
      { type: "response.failed", response: { error: {} } },
      "the event response.failed",
    ],
    ["Flowise", "/data", { event: "token", data: "Hel" }, { event: "error", data: "x" }, "the event error"],
    [
      "the Messages API",
      "/delta/text",
      { type: "content_block_delta", delta: { type: "text_delta", text: "Hel" } },
      'event: error\ndata: {"type":"error","error":{"type":"overloaded_error"}}',
      "the event error",
    ],
    [
      "Assistants",
      "/delta/content/0/text/value",
      { delta: { content: [{ text: { value: "Hel" } }] } },
      "event: thread.run.failed\ndata: {}",
      "the event thread.run.failed",
    ],
    [
      "chunks of completions",
      "/choices/0/delta/content",
      { choices: [{ delta: { content: "Hel" }, finish_reason: null }] },
      { choices: [{ delta: {}, finish_reason: "error" }] },
      "an event with an error at /choices/0/finish_reason",
    ],
  ];
  for (const [name, pointer, text, failure, why] of failures) {
    test(`fails by its own events, as of ${name}`, async () => {
      const { error } = await streamed(pointer, text, failure, "data: [DONE]");
      assert.equal(error?.reason, `The reply is a stream that failed: it has ${why}.`);
    });
  }

  test("goes on after a tool that failed, which the agent handles", async () => {
    const reply = await streamed(
      "/delta",
      { type: "tool-output-error", errorText: "x" },
      { type: "tool-error", error: { message: "x" } },
      { type: "response.mcp_call.failed" },
      { type: "text-delta", delta: "Hello" },
    );
    assert.deepEqual([reply.text, reply.error], ["Hello", null]);
  });

  test("has no reasoning and no arguments of calls in its text", async () => {
    const asides = [
      { type: "reasoning-delta", delta: "a" },
      { type: "tool-input-delta", delta: "b" },
      { type: "response.reasoning_summary_text.delta", delta: "c" },
      { type: "response.reasoning_text.delta", delta: "d" },
      { type: "response.function_call_arguments.delta", delta: "e" },
      { type: "response.mcp_call_arguments.delta", delta: "f" },
      { type: "response.code_interpreter_call_code.delta", delta: "g" },
      { type: "TOOL_CALL_ARGS", delta: "h" },
      { type: "THINKING_TEXT_MESSAGE_CONTENT", delta: "i" },
      'event: reasoning\ndata: {"delta":"j"}',
      { thought: true, delta: "k" },
    ];
    const said = [
      { type: "text-delta", delta: "Hel" },
      { type: "response.output_text.delta", delta: "lo" },
      { type: "response.refusal.delta", delta: ", no" },
    ];
    assert.equal((await streamed("/delta", ...asides, ...said)).text, "Hello, no");
  });

  test("of bytes that are not UTF-8 is no reply", async () => {
    const { reply } = await call(
      (_request, response) =>
        response
          .writeHead(200, { "content-type": "text/event-stream" })
          .end(Buffer.from('data: {"reply":"Größe"}\n\n', "latin1")),
      http(),
    );
    assert.equal(reply.error?.reason, "The reply is a stream that is not valid UTF-8.");
  });
});

suite("a reply in the trace", () => {
  const to = http({ reply: { kind: "trace" } });

  test("any 2xx is no error, and its body is not waited for", async () => {
    for (const status of [200, 202, 204]) {
      const { reply } = await call((_request, response) => {
        response.writeHead(status);
        if (status === 204) response.end();
        else response.write("started");
      }, to);
      assert.deepEqual([reply.status, reply.text, reply.error, reply.fromTrace], [status, null, null, true]);
    }
  });

  test("any other status is an error with the text that came along", async () => {
    const { reply } = await call((_request, response) => sendJson(response, { no: 1 }, 503), to);
    assert.deepEqual(
      [reply.text, reply.error?.code, reply.fromTrace],
      ['{"no":1}', "http_status", undefined],
    );
  });
});

suite("n8n", () => {
  test("the chat trigger receives a message of its session, and replies with output", async () => {
    const to = connection("workflow", { kind: "chat", url: `${agent.url}/webhook/abc/chat` });
    const { reply, request } = await call(n8nChat, to);
    assert.equal(reply.text, `conversation-1 said: ${turn.input}`);
    assert.deepEqual(request.body, {
      action: "sendMessage",
      sessionId: "conversation-1",
      chatInput: turn.input,
    });
  });

  test("the chat trigger may stream", async () => {
    const to = connection("workflow", { kind: "chat", url: `${agent.url}/webhook/abc/chat` });
    assert.equal((await call(n8nChatStreaming, to)).reply.text, said);
  });

  test("the webhook receives input and session, and replies with its first item", async () => {
    const to = connection("workflow", { kind: "webhook", url: `${agent.url}/webhook/abc` });
    const { reply, request } = await call(n8nWebhook, to);
    assert.equal(reply.text, said);
    assert.deepEqual(request.body, { chatInput: turn.input, sessionId: "conversation-1" });
  });

  test("a webhook that responds immediately is reported with the setting to change", async () => {
    const to = connection("workflow", { kind: "webhook", url: `${agent.url}/webhook/abc` });
    const { error } = (await call(n8nStarted, to)).reply;
    assert.deepEqual(
      [error?.code, /respond when the last node finishes/.test(error!.reason)],
      ["bad_reply", true],
    );
  });

  const replies: [body: string, text: string | null][] = [
    ['{"text": "Hello"}', "Hello"],
    ['{"message": {"content": "Hello"}}', "Hello"],
    ['{"json": {"output": "Hello"}}', "Hello"],
    ['["Hello"]', "Hello"],
    ['"Hello"', "Hello"],
    ["Hello\nyou", "Hello\nyou"],
    ['{"type":"begin"}\nHello', '{"type":"begin"}\nHello'],
    ['{"type":{"toString":1}}\n{"type":"end"}', '{"type":{"toString":1}}\n{"type":"end"}'],
    ["", null],
    ["[]", null],
    ['{"status": "done"}', null],
    ['{"type":"begin"}\n{"type":"error","content":"x"}', null],
    ['{"type":"error","content":"x","metadata":{"nodeId":"1"}}', null],
    ['{"type":"keepalive"}\n{"type":"begin"}\n{"type":"item","content":"Hello"}\n{"type":"end"}\n', "Hello"],
    ['{"executionStarted":true,"executionId":"12"}', null],
    ['{"message":"Workflow executed successfully but no data was returned"}', null],
    ['{"message":"Workflow executed successfully but the last node did not return any data"}', null],
    ["\n<!DOCTYPE html><html><body>Sign in</body></html>", null],
    ['{"message":"No item to return was found"}', null],
    ['{"code":0,"message":"No item to return was found"}', null],
    ['{"error":true,"message":"Model overloaded"}', null],
    ['{"error":"Model overloaded","message":"Something went wrong"}', null],
    ['{"error":{"message":"Model overloaded"},"output":"Sorry"}', null],
    ['[{"json":{"error":"Model overloaded","message":"x"}}]', null],
    ['{"error":false,"message":"Hello"}', "Hello"],
    ['{"error":null,"output":"Hello"}', "Hello"],
    ['{"error":"","errors":[],"output":"Hello"}', "Hello"],
    ['{"output":{"answer":"Hello","sources":[1]}}', '{"answer":"Hello","sources":[1]}'],
    ['[{"output":["a","b"]}]', '["a","b"]'],
    ['{"output":{"order":12345678901234567890}}', '{"order":12345678901234567890}'],
    ['{"output":12345678901234567890}', "12345678901234567890"],
    ["12345678901234567890", "12345678901234567890"],
    ['{"json":{"output":{"\\u0069d":-9007199254740993}}}', '{"id":-9007199254740993}'],
    ['{"json":{"output":{"answer":"Hello"}}}', '{"answer":"Hello"}'],
    ['{"output":null,"text":"Hello"}', "Hello"],
    ['{"type":"begin"}\n{"type":"item","content":"Hel"}\n', null],
    ['{"type":"begin"}\n{"type":"item","content":"Hel', null],
    ['{"type":"begin"}\n{"type":"begin"}\n{"type":"item","content":"Hel"}\n{"type":"end"}\n', null],
    ['{"type":"item","content":"Hel","metadata":{"nodeId":"1"}}', null],
  ];
  for (const [body, text] of replies) {
    test(`a webhook's ${JSON.stringify(body)} is read as ${JSON.stringify(text)}`, async () => {
      const to = connection("workflow", { kind: "webhook", url: agent.url });
      const { reply } = await call((_request, response) => response.end(body), to);
      assert.deepEqual([reply.text, reply.error?.code], [text, text === null ? "bad_reply" : undefined]);
    });
  }
});

suite("flow builders", () => {
  const flow = (product: string, name: string, value: string, more: object = {}) =>
    connection("flow_builder", {
      product,
      baseUrl: `${agent.url}/`,
      flowId: "flow-1",
      headers: [{ name, value }],
      ...more,
    });

  test("Flowise receives question and session, and replies with text", async () => {
    const { reply, request } = await call(flowise, flow("flowise", "Authorization", "Bearer flowise-key"));
    assert.deepEqual([reply.text, reply.error], [said, null]);
    assert.deepEqual(request.body, {
      question: turn.input,
      overrideConfig: { sessionId: "conversation-1" },
    });
  });

  test("Flowise receives the history if that is configured", async () => {
    const to = flow("flowise", "Authorization", "Bearer flowise-key", { sendHistory: true });
    assert.deepEqual((await call(flowise, to)).request.body.history, [
      { role: "userMessage", content: "Hello" },
      { role: "apiMessage", content: "Hi!" },
    ]);
  });

  test("Langflow receives input and session, and its deeply nested reply is found", async () => {
    const { reply, request } = await call(langflow, flow("langflow", "x-api-key", "langflow-key"));
    assert.deepEqual([reply.text, reply.error], [said, null]);
    assert.deepEqual(request.body, {
      input_value: turn.input,
      input_type: "chat",
      output_type: "chat",
      session_id: "conversation-1",
    });
  });

  test("a reply that says it is an error is none, with a status of 200", async () => {
    const replies: ["flowise" | "langflow", object][] = [
      ["flowise", { error: true, message: "Overloaded" }],
      ["flowise", { error: "Overloaded", text: "Sorry" }],
      ["langflow", { error: "Overloaded", message: "Error building component" }],
      [
        "langflow",
        { outputs: [{ outputs: [{ results: { message: { text: "x", data: { error: true } } } }] }] },
      ],
      ["langflow", { outputs: [{ outputs: [{ results: { message: { text: "x", category: "error" } } }] }] }],
    ];
    for (const [product, body] of replies) {
      const to = flow(product, "x-api-key", "langflow-key");
      const { reply } = await call((_request, response) => sendJson(response, body), to);
      assert.deepEqual([reply.text, reply.error?.code], [null, "bad_reply"], JSON.stringify(body));
    }
  });

  test("Langflow's text may be among the outputs of a later run", async () => {
    const later = { outputs: [{ results: { message: { text: "Hello" } } }] };
    const outputs = [{ inputs: {}, outputs: [{ results: {} }] }, { outputs: null }, later];
    const to = flow("langflow", "x-api-key", "langflow-key");
    const { reply } = await call((_request, response) => sendJson(response, { outputs }), to);
    assert.deepEqual([reply.text, reply.error], ["Hello", null]);
  });

  test("Langflow's text is taken from the output that was reached", async () => {
    const { reply } = await call(
      (_request, response) => {
        const reached = { results: { message: { text: "Hello" } }, component_id: "ChatOutput-2" };
        sendJson(response, {
          session_id: "1",
          outputs: [{ inputs: {}, outputs: [null, { results: {} }, reached] }],
        });
      },
      flow("langflow", "x-api-key", "langflow-key"),
    );
    assert.deepEqual([reply.text, reply.error], ["Hello", null]);
  });
});

suite("what goes wrong", () => {
  test("a status of 500 is an error with the text of the response", async () => {
    const { reply } = await call(failing, http());
    assert.deepEqual(
      [reply.status, reply.text, reply.error?.code],
      [500, "I am out of order.", "http_status"],
    );
  });

  test("broken JSON is an unreadable reply", async () => {
    const { reply } = await call(brokenJson, http());
    assert.deepEqual(
      [reply.status, reply.text, reply.error],
      [200, null, { code: "bad_reply", reason: "The reply is not JSON." }],
    );
  });

  test("an empty reply and a web page are reported as such, for status 200 and 204", async () => {
    for (const [status, body, why] of [
      [200, "", "is empty"],
      [200, " \n", "is empty"],
      [204, "", "is empty"],
      [200, "<html><body>Sign in</body></html>", "is HTML, not JSON"],
    ] as const) {
      const { reply } = await call((_request, response) => response.writeHead(status).end(body), http());
      assert.deepEqual(
        [reply.status, reply.text, reply.error],
        [status, null, { code: "bad_reply", reason: `The reply ${why}.` }],
      );
    }
  });

  test("a secret that the server repeats is removed from its text and its content type", async () => {
    const headers = [
      { name: "Authorization", value: "Bearer hidden-text" },
      { name: "X-Api-Key", value: "hidden-2" },
      { name: "X-Auth-Token", value: "hidden-2-of-another" },
      { name: "X-Tenant", value: "acme-corporation" },
      { name: "X-Short", value: "ok", secret: true },
    ];
    const { reply } = await call(
      ({ headers: sent }, response) => {
        const { authorization, "x-api-key": key, "x-auth-token": token, "x-tenant": tenant } = sent;
        response.writeHead(500, { "content-type": `text/plain; of=${key}` });
        response.end(`${authorization}, hidden-text, ${key}, ${token}, ${tenant}, ok`);
      },
      http({ headers, reply: { kind: "text" } }),
    );
    assert.equal(reply.text, "[secret], [secret], [secret], [secret], acme-corporation, ok");
    assert.equal(reply.contentType, "text/plain; of=[secret]");
  });

  test("a secret is also removed as JSON or URL text, and together with a longer secret that starts with it", async () => {
    const value = 'first/of+two"==';
    const headers = [
      { name: "X-Api-Key", value },
      { name: "X-Other-Key", value: `${value}, and more` },
    ];
    const { reply } = await call(
      ({ headers: sent }, response) => {
        const json = JSON.stringify({ one: sent["x-api-key"], other: sent["x-other-key"] });
        const others = [
          json.replaceAll("/", "\\/"),
          json.replaceAll("+", "\\u002B"),
          encodeURIComponent(value),
        ];
        response.writeHead(500, { "content-type": "text/plain" }).end([json, ...others].join("\n"));
      },
      http({ headers, reply: { kind: "text" } }),
    );
    const json = '{"one":"[secret]","other":"[secret]"}';
    assert.equal(reply.text, [json, json, json, "[secret]"].join("\n"));
  });

  test("a request that is too long because of its history is not sent", async () => {
    const bodyTemplate = `["{{input}}"${', "{{history}}"'.repeat(20)}]`;
    const history = [{ role: "assistant" as const, content: "x".repeat(1_000_000) }];
    const flowise = { product: "flowise", baseUrl: agent.url, flowId: "flow-1", sendHistory: true };
    agent.requests.length = 0;
    for (const [to, said] of [
      [http({ bodyTemplate }), history],
      [connection("flow_builder", flowise), Array(11).fill(history[0])],
    ] as const) {
      const reply = await callAgent(outbound, to, { ...turn, history: said });
      assert.deepEqual([reply.error?.code, agent.requests.length], ["too_large", 0]);
      assert.match(reply.error!.reason, /^The request would be longer than 10000000 characters/);
    }
  });

  test("an endless stream of events is too large", async () => {
    const { reply } = await call((_request, response) => {
      const event = `data: {"reply": "${"x".repeat(10_000)}"}\n\n`;
      const more = () => {
        while (response.write(event));
      };
      response.writeHead(200, { "content-type": "text/event-stream" }).on("drain", more);
      more();
    }, http());
    assert.deepEqual([reply.status, reply.text, reply.error?.code], [200, null, "too_large"]);
  });

  test("an endless body is too large, and its status is kept", async () => {
    const { reply } = await call(endless, http({ reply: { kind: "text" } }));
    assert.deepEqual([reply.status, reply.text, reply.error?.code], [200, null, "too_large"]);
  });

  test("a broken connection is not reported as an unreachable agent, and no part of the request is repeated", async () => {
    const { reply } = await call(crashing, http());
    assert.deepEqual([reply.status, reply.error?.code], [null, "broken_off"]);
    assert.match(
      reply.error!.reason,
      /^127\.0\.0\.1:\d+ closed the connection without an answer \(does its port need https:\/\/\?\)\.$/,
    );
  });

  test("a reply that breaks off keeps its status, and is not reported as an unreachable agent", async () => {
    const { reply } = await call((_request, response) => {
      response.writeHead(200, { "content-length": 100 }).write("half", () => response.destroy());
    }, http());
    assert.deepEqual([reply.status, reply.text, reply.error?.code], [200, null, "broken_off"]);
    assert.match(reply.error!.reason, /^127\.0\.0\.1:\d+ closed the connection\.$/);
  });

  test("a server that does not speak HTTP is not reported as an unreachable agent", async () => {
    const { reply } = await call((_request, response) => {
      response.socket!.end("SSH-2.0-OpenSSH\r\n\r\n");
    }, http());
    assert.deepEqual([reply.status, reply.error?.code], [null, "broken_off"]);
    assert.match(reply.error!.reason, /sent an invalid response\.$/);
  });

  test("a redirect to a metadata address is refused", async () => {
    const { reply } = await call(toMetadata, http());
    assert.equal(reply.error?.code, "refused_target");
    assert.match(reply.error!.reason, /169\.254\.169\.254 is a link-local address/);
  });

  test("an agent that does not reply in time is given up", async () => {
    const time = new AbortController();
    const impatient = openOutbound({ allow: ["127.0.0.1"], timeout: () => time.signal });
    agent.script = () => time.abort(new DOMException("Too late", "TimeoutError"));
    const reply = await callAgent(impatient, http(), turn);
    assert.deepEqual([reply.status, reply.error?.code], [null, "timeout"]);
    assert.match(reply.error!.reason, /did not answer within 60 s\.$/);
    await impatient.close();
  });

  test("an aborted call says so, before it starts and while it waits", async () => {
    const controller = new AbortController();
    const waiting = await call(() => controller.abort(), http(), controller.signal);
    assert.equal(waiting.reply.error?.code, "cancelled");
    const none = await call(silent, http(), AbortSignal.abort());
    assert.deepEqual([none.reply.error?.code, none.request], ["cancelled", undefined]);
  });

  test("no header of the connection can replace the ids of the turn", () => {
    for (const name of ["X-Request-Id", "traceparent", "Host", "content-length"]) {
      assert.throws(() => http({ headers: [{ name, value: "x" }] }), { code: "VALIDATION_ERROR" });
    }
  });
});
