// How OpenAI, Anthropic and Google encode a question and its answer, as far as the scripted judge needs it.
import type { JudgeMode } from "../../src/model/judge/call.ts";

export type Protocol = "openai" | "anthropic" | "google";

type Usage = { prompt_tokens: number; completion_tokens: number; total_tokens: number };
type Ending = "stop" | "length" | "content_filter";

type Text = { text: string };
type OpenAi = {
  model: string;
  messages: [{ content: string | Text[] }, { content: string | Text[] }?];
  response_format?: { type: "json_schema" | "json_object" };
  tools?: unknown;
};
type Anthropic = {
  model: string;
  system?: [Text];
  messages: [{ content: [Text] }];
  output_config?: { format?: unknown };
  tools?: unknown;
};
type Google = {
  systemInstruction?: { parts: [Text] };
  contents: [{ parts: [Text] }];
  generationConfig?: { responseJsonSchema?: unknown; responseMimeType?: string };
  tools?: unknown;
};

type Speech = {
  read(
    body: Record<string, unknown>,
    path: string,
  ): { model: string; mode: JudgeMode; instructions: string; material: string };
  answer(text: string, ending: Ending, mode: JudgeMode, usage: Usage): object;
  declined(text: string, usage: Usage): object;
  error(status: number, error: { message: string; code?: string; param?: string }): object;
};

/** By the path of a request. */
export function protocolOf(path: string): Protocol | undefined {
  if (path === "/v1/chat/completions") return "openai";
  if (path === "/v1/messages") return "anthropic";
  return /^\/v1beta\/models\/[^/]+:generateContent$/.test(path) ? "google" : undefined;
}

export const protocols: Record<Protocol, Speech> = {
  openai: {
    read: body => {
      const { model, messages, response_format, tools } = body as OpenAi;
      const mode = tools ? "tool" : (response_format?.type ?? "text");
      return {
        model,
        mode,
        ...promptOf(plain(messages[0].content), messages[1] && plain(messages[1].content)),
      };
    },
    answer: (text, ending, mode, usage) => {
      const called = {
        id: "call-1",
        type: "function",
        function: { name: "answer", arguments: text },
      };
      return chat(
        mode === "tool" ? { content: null, tool_calls: [called] } : { content: text },
        ending === "stop" && mode === "tool" ? "tool_calls" : ending,
        usage,
      );
    },
    declined: (text, usage) => chat({ content: null, refusal: text }, "stop", usage),
    error: (_, error) => ({ error: { type: "error", param: null, code: null, ...error } }),
  },
  anthropic: {
    read: body => {
      const { model, system, messages, tools, output_config } = body as Anthropic;
      const mode = tools ? "tool" : output_config?.format ? "json_schema" : "text";
      const { text } = messages[0].content[0];
      return { model, mode, ...(system ? promptOf(system[0].text, text) : promptOf(text)) };
    },
    answer: (text, ending, mode, usage) =>
      message(
        mode === "tool"
          ? { type: "tool_use", id: "toolu_1", name: "answer", input: parsed(text) }
          : { type: "text", text },
        ending === "stop" ? (mode === "tool" ? "tool_use" : "end_turn") : endings[ending],
        usage,
      ),
    declined: (text, usage) => message({ type: "text", text }, "refusal", usage),
    error: (status, { message, code }) => ({
      type: "error",
      error: { type: code ?? (anthropicErrors[status] || "invalid_request_error"), message },
    }),
  },
  google: {
    read: (body, path) => {
      const { systemInstruction, contents, generationConfig = {}, tools } = body as Google;
      const { responseJsonSchema, responseMimeType } = generationConfig;
      const asked = responseJsonSchema ? "json_schema" : responseMimeType ? "json_object" : "text";
      return {
        model: path.match(/models\/(.+):/)![1]!,
        mode: tools ? "tool" : asked,
        ...(systemInstruction
          ? promptOf(systemInstruction.parts[0].text, contents[0].parts[0].text)
          : promptOf(contents[0].parts[0].text)),
      };
    },
    answer: (text, ending, mode, usage) =>
      candidate(
        mode === "tool" ? { functionCall: { name: "answer", args: parsed(text) } } : { text },
        { stop: "STOP", length: "MAX_TOKENS", content_filter: "SAFETY" }[ending],
        usage,
      ),
    declined: (_, usage) => ({
      promptFeedback: { blockReason: "PROHIBITED_CONTENT" },
      usageMetadata: googleUsage(usage),
    }),
    error: (status, { message, code }) => ({
      error: { code: status, message, status: code ?? "INVALID_ARGUMENT" },
    }),
  },
};

/** Without a system role, one message has both. */
function promptOf(first: string, second?: string): { instructions: string; material: string } {
  if (second !== undefined) return { instructions: first, material: second };
  const at = first.indexOf("\n\nMATERIAL ");
  return { instructions: first.slice(0, at), material: first.slice(at + 2) };
}

const endings = { length: "max_tokens", content_filter: "refusal" };
const anthropicErrors: Record<number, string> = {
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  429: "rate_limit_error",
  500: "api_error",
  529: "overloaded_error",
};

/** Gateways send the parts of a message, too. */
function plain(content: string | Text[]): string {
  return typeof content === "string" ? content : content.map(({ text }) => text).join("");
}

function chat(said: object, finish_reason: string, usage: Usage): object {
  return {
    ...{ id: "chatcmpl-1", object: "chat.completion", created: 1_760_000_000, model: "local-model" },
    choices: [{ index: 0, finish_reason, message: { role: "assistant", ...said } }],
    usage,
  };
}

function message(block: object, stop_reason: string, { prompt_tokens, completion_tokens }: Usage): object {
  return {
    ...{ type: "message", id: "msg_1", role: "assistant", model: "local-model", content: [block] },
    ...{ stop_reason, stop_sequence: null },
    usage: { input_tokens: prompt_tokens, output_tokens: completion_tokens },
  };
}

function candidate(part: object, finishReason: string, usage: Usage): object {
  return {
    candidates: [{ index: 0, finishReason, content: { role: "model", parts: [part] } }],
    usageMetadata: googleUsage(usage),
  };
}

function googleUsage({ prompt_tokens, completion_tokens, total_tokens }: Usage): object {
  return {
    promptTokenCount: prompt_tokens,
    candidatesTokenCount: completion_tokens,
    totalTokenCount: total_tokens,
  };
}

/** Tools are called with objects: text that is not JSON is sent as a field of an object. */
function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : { text };
  } catch {
    return { text };
  }
}
