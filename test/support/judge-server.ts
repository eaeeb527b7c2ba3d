// A local OpenAI-compatible server that answers as it is scripted and keeps every request it got.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export type ChatRequest = {
  headers: IncomingHttpHeaders;
  body: {
    model: string;
    messages: { role: string; content: string }[];
    response_format?: { type: string; json_schema?: { name: string; strict: boolean; schema: unknown } };
    [field: string]: unknown;
  };
};

/** What to do with a request's response; see the makers below. */
export type Reply = (response: ServerResponse) => void;

/** `index` counts requests from 0. A reply that is to wait is a promise that is not yet kept. */
export type Script = (request: ChatRequest, index: number) => Reply | Promise<Reply>;

export type JudgeServer = {
  /** The base to configure: `http://127.0.0.1:…/v1`. */
  url: string;
  requests: ChatRequest[];
  script: Script;
  /** Kept when that many requests have arrived in all. */
  arrived(count: number): Promise<void>;
  close(): Promise<void>;
};

/** Listens on a free port of 127.0.0.1. Without a script it is obliging. */
export async function startJudgeServer(script: Script = obliging()): Promise<JudgeServer> {
  const awaited: { count: number; resolve: () => void }[] = [];
  const server = createServer(async (request, response) => {
    if (request.method !== "POST" || request.url !== "/v1/chat/completions") {
      return refusal(404, { message: `Unknown request URL: ${request.method} ${request.url}.` })(response);
    }
    const recorded = { headers: request.headers, body: JSON.parse(await text(request)) };
    judge.requests.push(recorded);
    const index = judge.requests.length - 1;
    for (const { count, resolve } of awaited) if (judge.requests.length >= count) resolve();
    const reply = await judge.script(recorded, index);
    reply(response);
  });
  const judge: JudgeServer = {
    url: "",
    requests: [],
    script,
    arrived: count =>
      new Promise(resolve => {
        if (judge.requests.length >= count) resolve();
        else awaited.push({ count, resolve });
      }),
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  judge.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return judge;
}

export const usage = { prompt_tokens: 321, completion_tokens: 45, total_tokens: 366 };

/** A chat completion; a `content` that is no text is sent as JSON text. */
export function completion(content: unknown, finishReason = "stop"): Reply {
  return json(200, {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1_760_000_000,
    model: "local-model",
    choices: [
      {
        index: 0,
        finish_reason: finishReason,
        message: {
          role: "assistant",
          content: typeof content === "string" ? content : JSON.stringify(content),
        },
      },
    ],
    usage,
  });
}

/** An error in OpenAI's shape. */
export function refusal(
  status: number,
  error: { message?: string; code?: string; param?: string } = {},
  headers: Record<string, string> = {},
): Reply {
  return json(
    status,
    { error: { message: "No.", type: "error", param: null, code: null, ...error } },
    headers,
  );
}

export function json(status: number, body: unknown, headers: Record<string, string> = {}): Reply {
  return raw(status, "application/json", JSON.stringify(body), headers);
}

export function raw(status: number, type: string, body: string, headers: Record<string, string> = {}): Reply {
  return response => response.writeHead(status, { "content-type": type, ...headers }).end(body);
}

/** Headers and the beginning of an answer; then the connection is gone. */
export const cutOff: Reply = response => {
  response.writeHead(200, { "content-type": "application/json" });
  response.write('{"id":"chatcmpl-1","choices":[{"index":0,"mess', () => response.destroy());
};

/** No answer, ever: the connection stays open until either side ends it. */
export const silence: Reply = () => undefined;

/** Answers only requests whose response_format is one of `modes` ("text" is none at all); else as OpenAI refuses. */
export function only(modes: string[], script: Script): Script {
  return (request, index) => {
    const mode = request.body.response_format?.type ?? "text";
    if (modes.includes(mode)) return script(request, index);
    const message = `Invalid parameter: 'response_format' of type '${mode}' is not supported with this model.`;
    return refusal(400, { message, param: "response_format" });
  };
}

export type Opinions = {
  label?: (scenario: string, userInput: string) => string;
  verdict?: (criterion: string, reply: string) => string;
};

/** Understands both questions, and answers each item by these functions: "match" and "met" unless told. */
export function obliging({ label = () => "match", verdict = () => "met" }: Opinions = {}): Script {
  return request => {
    const material = materialOf(request);
    const asked = askedOf(request);
    if (Array.isArray(asked)) {
      const labels = asked.map(({ id, scenario }) => ({
        id,
        why: "as scripted",
        label: label(whole(scenario), whole(material["user_input"])),
      }));
      return completion({ labels });
    }
    const verdicts = asked.criteria.map(({ id, criterion }) => ({
      id,
      evidence: "",
      reason: "As scripted.",
      verdict: verdict(whole(criterion), whole(material["reply"])),
    }));
    return completion({ verdicts });
  };
}

/** The one line of JSON that holds what came with the trace. */
export function materialOf(request: ChatRequest): Record<string, unknown> {
  return JSON.parse(request.body.messages[1]!.content.split("\n")[1]!);
}

type Scenarios = { id: string; scenario: unknown }[];
type Criteria = {
  scenario: string;
  reference_reply?: string;
  criteria: { id: string; criterion: unknown }[];
};

/** The line of JSON that ends the instructions: the scenarios of a routing call, or the criteria of a semantic one. */
export function askedOf(request: ChatRequest): Scenarios | Criteria {
  return JSON.parse(request.body.messages[0]!.content.split("\n").at(-1)!);
}

/** The ids of a routing call's scenarios. */
export function idsOf(request: ChatRequest): string[] {
  return (askedOf(request) as Scenarios).map(({ id }) => id);
}

function whole(text: unknown): string {
  if (typeof text === "string" || text === null) return text ?? "";
  const { start, end } = text as { start: string; end: string };
  return start + end;
}
