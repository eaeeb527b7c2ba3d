// A local server that plays the model of an agent, in OpenAI's protocols: asked for the weather, it calls the tool, then replies.
import { randomUUID } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** What an agent of the guides is asked and must end up with. Tokens are those of both calls of the model. */
export const weather = {
  question: "What is the weather in Paris?",
  reply: "It is rainy, 14°C in Paris.",
  tool: { name: "get_weather", arguments: { city: "Paris" }, result: "rainy, 14°C in Paris" },
  tokens: { input: 43, output: 14, total: 57 },
};

const calling = { input: 12, output: 5 };
const replying = { input: 31, output: 9 };
type Usage = typeof calling;

/** What the model does: calls a tool, or says something. */
type Turn = { usage: Usage } & ({ call: { name: string; arguments: object } } | { says: string });

type Asked = { model: string; stream?: boolean; tools?: unknown; messages?: unknown; input?: unknown };

export type ModelServer = { url: string; close(): Promise<void> };

/** Listens on a free port of 127.0.0.1; `url` is the base URL of OpenAI's clients. */
export async function startModelServer(): Promise<ModelServer> {
  const server = createServer(async (request, response) => {
    const asked = JSON.parse((await text(request)) || "{}") as Asked;
    const turn = turnOf(asked);
    if (request.url === "/v1/chat/completions") chat(response, asked, turn);
    else if (request.url === "/v1/responses") json(response, responseOf(asked, turn));
    else response.writeHead(404).end(`Unknown path: ${request.url}`);
  });
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function turnOf({ messages, input, tools }: Asked): Turn {
  const told = JSON.stringify(messages ?? input ?? "");
  const isTold = told.includes("rainy");
  const usage = isTold ? replying : calling;
  // DSPy asks for named fields in plain text.
  if (told.includes("next_tool_name")) {
    const tool = isTold ? { name: "finish", arguments: {} } : weather.tool;
    return {
      usage,
      says: fields({
        next_thought: "Look it up.",
        next_tool_name: tool.name,
        next_tool_args: JSON.stringify(tool.arguments),
      }),
    };
  }
  if (told.includes("[[ ## ")) {
    return { usage, says: fields({ reasoning: "The tool says so.", answer: weather.reply }) };
  }
  if (!isTold) return { usage, call: weather.tool };
  // The agents of smolagents end with a call.
  return JSON.stringify(tools ?? "").includes("final_answer")
    ? { usage, call: { name: "final_answer", arguments: { answer: weather.reply } } }
    : { usage, says: weather.reply };
}

function fields(named: Record<string, string>): string {
  const written = Object.entries(named).map(([name, value]) => `[[ ## ${name} ## ]]\n${value}`);
  return [...written, "[[ ## completed ## ]]"].join("\n\n");
}

function chat(response: ServerResponse, { model, stream }: Asked, turn: Turn): void {
  const { input, output } = turn.usage;
  const message =
    "says" in turn
      ? { role: "assistant", content: turn.says }
      : {
          role: "assistant",
          content: null,
          tool_calls: [
            {
              ...(stream && { index: 0 }),
              id: "call_1",
              type: "function",
              function: { name: turn.call.name, arguments: JSON.stringify(turn.call.arguments) },
            },
          ],
        };
  const finish_reason = "says" in turn ? "stop" : "tool_calls";
  const usage = {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
  };
  const common = { id: `chatcmpl-${randomUUID()}`, created: 1_760_000_000, model };
  if (!stream) {
    const choices = [{ index: 0, finish_reason, message }];
    json(response, { ...common, object: "chat.completion", choices, usage });
    return;
  }
  const chunk = { ...common, object: "chat.completion.chunk" };
  const chunks = [
    { ...chunk, choices: [{ index: 0, delta: message, finish_reason: null }] },
    { ...chunk, choices: [{ index: 0, delta: {}, finish_reason }] },
    { ...chunk, choices: [], usage },
  ];
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end([...chunks.map(one => JSON.stringify(one)), "[DONE]"].map(one => `data: ${one}\n\n`).join(""));
}

function responseOf({ model }: Asked, turn: Turn): object {
  const { input, output } = turn.usage;
  const item =
    "says" in turn
      ? {
          type: "message",
          id: `msg_${randomUUID()}`,
          role: "assistant",
          content: [{ type: "output_text", text: turn.says, annotations: [] }],
        }
      : {
          type: "function_call",
          id: "fc_1",
          call_id: "call_1",
          name: turn.call.name,
          arguments: JSON.stringify(turn.call.arguments),
        };
  return {
    ...{
      id: `resp_${randomUUID()}`,
      object: "response",
      created_at: 1_760_000_000,
      model,
      status: "completed",
    },
    output: [{ ...item, status: "completed" }],
    ...{ parallel_tool_calls: true, tool_choice: "auto", tools: [], metadata: {}, temperature: 1, top_p: 1 },
    ...{ error: null, incomplete_details: null, instructions: null },
    usage: {
      input_tokens: input,
      output_tokens: output,
      total_tokens: input + output,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
    },
  };
}

function json(response: ServerResponse, body: object): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
}
