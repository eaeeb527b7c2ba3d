// Local servers that play agents: an HTTP agent, n8n's triggers, Flowise's and Langflow's endpoints, and faulty ones.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

type AgentRequest = {
  method: string;
  /** Path and query. */
  path: string;
  headers: IncomingHttpHeaders;
  /** Parsed, if it is JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a body is whatever the connection sends.
  body: any;
};

export type AgentScript = (request: AgentRequest, response: ServerResponse) => unknown;

export type AgentServer = {
  /** An origin. */
  url: string;
  requests: AgentRequest[];
  script: AgentScript;
  close(): Promise<void>;
};

/** Listens on a free port of 127.0.0.1. */
export async function startAgentServer(script: AgentScript = httpAgent): Promise<AgentServer> {
  const server = createServer(async (incoming, response) => {
    const body = await text(incoming);
    const request = {
      method: incoming.method!,
      path: incoming.url!,
      headers: incoming.headers,
      body: body.startsWith("{") ? JSON.parse(body) : body,
    };
    agent.requests.push(request);
    await agent.script(request, response);
  });
  const agent: AgentServer = {
    url: "",
    requests: [],
    script,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  agent.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return agent;
}

export function sendJson(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json; charset=utf-8" }).end(JSON.stringify(body));
}

/** A custom agent: `{ message }` to `{ reply }`. */
export const httpAgent: AgentScript = ({ body }, response) =>
  sendJson(response, { reply: `You said: ${body.message}` });

/** A chat completion, streamed if requested, as OpenAI-compatible servers do. */
export const completions: AgentScript = ({ body }, response) => {
  const said = `You said: ${body.messages.at(-1).content}`;
  if (!body.stream) {
    const message = { role: "assistant", content: said };
    return sendJson(response, {
      id: "chatcmpl-1",
      object: "chat.completion",
      choices: [{ index: 0, message, finish_reason: "stop" }],
    });
  }
  const chunk = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
  response.write(": keep-alive\n\n");
  response.write(chunk({ role: "assistant" }));
  for (const word of said.split(/(?<= )/)) response.write(chunk({ content: word }));
  response.write(chunk({}, "stop"));
  response.end(`data: [DONE]\n\n${chunk({ content: "after the end" })}`);
};

/** n8n's chat trigger behind an agent node, answering when the last node has finished. */
export const n8nChat: AgentScript = ({ method, path, body }, response) => {
  if (method !== "POST" || !path.startsWith("/webhook/") || body.action !== "sendMessage") {
    const message = `The requested webhook "${method} ${path.slice(9)}" is not registered.`;
    return sendJson(response, { code: 404, message, hint: "The workflow must be active." }, 404);
  }
  sendJson(response, { output: `${body.sessionId} said: ${body.chatInput}` });
};

/** The same in streaming mode: a line of JSON per piece. */
export const n8nChatStreaming: AgentScript = ({ body }, response) => {
  const metadata = { nodeId: "1", nodeName: "AI Agent", timestamp: 1 };
  response.writeHead(200, { "content-type": "application/json; charset=utf-8" });
  const pieces = ["You said: ", body.chatInput];
  response.write(`${JSON.stringify({ type: "begin", metadata })}\n`);
  for (const content of pieces) response.write(`${JSON.stringify({ type: "item", content, metadata })}\n`);
  response.end(`${JSON.stringify({ type: "end", metadata })}\n`);
};

/** n8n's webhook that responds with all entries of the last node. */
export const n8nWebhook: AgentScript = ({ body }, response) =>
  sendJson(response, [{ output: `You said: ${body.chatInput}` }, { output: "a second item" }]);

/** n8n's webhook that responds immediately. */
export const n8nStarted: AgentScript = (_request, response) =>
  sendJson(response, { message: "Workflow was started" });

/** Flowise's prediction endpoint for the flow `flow-1`, protected by a key. */
export const flowise: AgentScript = ({ path, headers, body }, response) => {
  if (headers.authorization !== "Bearer flowise-key") {
    return sendJson(response, { statusCode: 401, success: false, message: "Unauthorized", stack: {} }, 401);
  }
  if (path !== "/api/v1/prediction/flow-1") {
    const message = `Chatflow ${path.split("/").at(-1)} not found`;
    return sendJson(response, { statusCode: 404, success: false, message, stack: {} }, 404);
  }
  const { sessionId } = body.overrideConfig;
  sendJson(response, {
    text: `You said: ${body.question}`,
    question: body.question,
    chatId: sessionId,
    chatMessageId: "b7a5e5a5-0000-4000-8000-000000000000",
    sessionId,
    memoryType: "Buffer Memory",
  });
};

/** Langflow's run endpoint for the flow `flow-1`, protected by a key. */
export const langflow: AgentScript = ({ path, headers, body }, response) => {
  if (headers["x-api-key"] !== "langflow-key") {
    return sendJson(response, { detail: "Invalid or missing API key" }, 403);
  }
  if (path !== "/api/v1/run/flow-1?stream=false") {
    const detail = `Flow identifier ${path.slice(12).split("?", 1)[0]} not found`;
    return sendJson(response, { detail }, 404);
  }
  const message = `You said: ${body.input_value}`;
  const source = { id: "ChatOutput-1", display_name: "Chat Output", source: "ChatOutput-1" };
  const output = {
    results: {
      message: {
        text_key: "text",
        data: { text: message, sender: "Machine", sender_name: "AI", session_id: body.session_id },
        text: message,
        sender: "Machine",
        properties: { source },
      },
    },
    artifacts: { message, sender: "Machine", sender_name: "AI", files: [], type: "object" },
    outputs: { message: { message, type: "text" } },
    logs: { message: [] },
    messages: [{ message, sender: "Machine", sender_name: "AI", session_id: body.session_id }],
    timedelta: null,
    duration: null,
    component_display_name: "Chat Output",
    component_id: "ChatOutput-1",
    used_frozen_result: false,
  };
  const inputs = { input_value: body.input_value };
  sendJson(response, { session_id: body.session_id, outputs: [{ inputs, outputs: [output] }] });
};

/** Never answers. */
export const silent: AgentScript = () => undefined;

export const brokenJson: AgentScript = (_request, response) =>
  response.writeHead(200, { "content-type": "application/json" }).end('{"reply": "Hel');

/** Sends until the caller disconnects. */
export const endless: AgentScript = (_request, response) => {
  const chunk = Buffer.alloc(65_536, "x");
  const more = () => {
    while (response.write(chunk));
  };
  response.writeHead(200, { "content-type": "text/plain" }).on("drain", more);
  more();
};

export const failing: AgentScript = (_request, response) =>
  sendJson(response, { reply: "I am out of order." }, 500);

export const crashing: AgentScript = (_request, response) => response.destroy();

/** A redirect to a cloud provider's metadata address. */
export const toMetadata: AgentScript = (_request, response) =>
  response.writeHead(307, { location: "http://169.254.169.254/latest/meta-data/" }).end();
