// Opens the model of a judge's provider, and builds the call options of each output mode.
import type { JSONSchema7, LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { z } from "zod";
import type { JudgeConnection, JudgeHeader, JudgeMode, JudgeProvider } from "../../model/judge/call.ts";
import { beginningOf } from "../foreign-text.ts";
import type { Prompt } from "./prompts.ts";

/** `path` is added to URLs without a path; `endpoint` is removed from URLs that users entered with it. */
const providers: Record<JudgeProvider, { base: string | null; path: string; endpoint: RegExp }> = {
  openai: { base: "https://api.openai.com/v1", path: "/v1", endpoint: /\/chat\/completions$/ },
  openai_compatible: { base: null, path: "/v1", endpoint: /\/chat\/completions$/ },
  anthropic: { base: "https://api.anthropic.com/v1", path: "/v1", endpoint: /\/messages$/ },
  google: {
    base: "https://generativelanguage.googleapis.com/v1beta",
    path: "/v1beta",
    endpoint: /\/models(\/[^/]*)?$/,
  },
};

/**
 * Loads only the provider's package. Key and URL are always passed: without them, the packages read their own environment
 * variables, and would send the operator's key to a URL of a project's choice.
 */
export async function openModel(
  {
    provider,
    url,
    model,
    apiKey,
    headers = [],
  }: Omit<JudgeConnection, "timeoutMs" | "concurrency" | "tokensPerMinute">,
  plainFetch: typeof globalThis.fetch,
): Promise<LanguageModelV4> {
  const fetch = extendedFetch(plainFetch, url, headers);
  const settings = { baseURL: baseUrl(provider, url), apiKey: apiKey ?? "", fetch };
  if (provider === "anthropic") {
    return (await import("@ai-sdk/anthropic")).createAnthropic(settings)(model);
  }
  if (provider === "google") return (await import("@ai-sdk/google")).createGoogle(settings)(model);
  // Chat completions: unlike responses, they are not stored at the provider.
  if (provider === "openai") return (await import("@ai-sdk/openai")).createOpenAI(settings).chat(model);
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  return createOpenAICompatible({ ...settings, name: "judge", supportsStructuredOutputs: true })(model);
}

/** Adds the base URL's query and the connection's headers, which replace the provider's headers of the same name. */
function extendedFetch(
  fetch: typeof globalThis.fetch,
  url: string | null,
  headers: JudgeHeader[],
): typeof globalThis.fetch {
  const query = url === null ? [] : [...new URL(url).searchParams];
  if (query.length + headers.length === 0) return fetch;
  return (input, init) => {
    const target = new URL(input instanceof Request ? input.url : input);
    for (const [name, value] of query) target.searchParams.append(name, value);
    const merged = new Headers(init?.headers);
    for (const { name, value } of headers) merged.set(name, value);
    return fetch(target, { ...init, headers: merged });
  };
}

function baseUrl(provider: JudgeProvider, text: string | null): string {
  const { base, path, endpoint } = providers[provider];
  if (text === null) {
    if (base === null) throw new TypeError("An OpenAI-compatible server has no default URL");
    return base;
  }
  const url = new URL(text);
  const given = url.pathname.replace(/(?<!\/)\/+$/, "").replace(endpoint, "");
  return url.origin + (given === "" ? path : given);
}

/** The provider's output modes, strictest first. Anthropic has no JSON mode without a schema. */
export function modesOf(provider: JudgeProvider): JudgeMode[] {
  return provider === "anthropic"
    ? ["json_schema", "tool", "text"]
    : ["json_schema", "tool", "json_object", "text"];
}

/**
 * How a prompt is sent. Without a system role, the user message starts with the instructions. `temperature`: whether the
 * model takes another one than its default.
 */
export type PromptFormat = { mode: JudgeMode; systemRole: boolean; temperature: boolean };

export function isSameFormat(one: PromptFormat, other: PromptFormat): boolean {
  return (
    one.mode === other.mode && one.systemRole === other.systemRole && one.temperature === other.temperature
  );
}

const toolName = "answer";

/** No token limit: models disagree on how it may be sent. `varied`: at the model's default temperature. */
export function callOptions(
  { instructions, material }: Prompt,
  { shape, varied }: { shape: z.ZodType; varied: boolean },
  { mode, systemRole, temperature }: PromptFormat,
): LanguageModelV4CallOptions {
  const user = (text: string) => ({ role: "user" as const, content: [{ type: "text" as const, text }] });
  const prompt: LanguageModelV4CallOptions["prompt"] = systemRole
    ? [{ role: "system", content: instructions }, user(material)]
    : [user(`${instructions}\n\n${material}`)];
  const sent = { prompt, ...(temperature && !varied ? { temperature: 0 } : {}) };
  if (mode === "text") return sent;
  if (mode === "json_object") return { ...sent, responseFormat: { type: "json" } };
  const { $schema: _, ...schema } = z.toJSONSchema(shape) as JSONSchema7;
  if (mode === "json_schema") {
    return { ...sent, responseFormat: { type: "json", schema, name: toolName } };
  }
  const tool = {
    type: "function",
    name: toolName,
    description: "Gives the answer.",
    inputSchema: schema,
  } as const;
  return { ...sent, tools: [tool], toolChoice: { type: "tool", toolName } };
}

/** The answer: the input of the tool call if there is one, else the text. */
export function textOf(content: Awaited<ReturnType<LanguageModelV4["doGenerate"]>>["content"]): string {
  const call = content.find(part => part.type === "tool-call" && part.toolName === toolName);
  if (call?.type === "tool-call") return call.input;
  return content.flatMap(part => (part.type === "text" ? [part.text] : [])).join("");
}

// How servers word that they, or the model, do not support an output mode.
const rejections: Record<Exclude<JudgeMode, "text">, RegExp> = {
  json_schema:
    /response.?(format|schema|json|mime)|json.?(schema|object|mode)|structured.?output|output.?(config|format)|grammar|requested parameters/i,
  tool: /tool|function.?call|requested parameters/i,
  json_object: /response.?(format|schema|json|mime)|json.?(object|mode)|requested parameters/i,
};

/** Whether the server rejected the mode rather than the question. llama.cpp does so with a 500, routers with a 404. */
export function rejectsMode(mode: JudgeMode, status: number | undefined, body: string | undefined): boolean {
  return mode !== "text" && rejectedBy.includes(status ?? 0) && rejections[mode].test(beginningOf(body));
}

/** Whether the server rejected the temperature: models that reason take only their default. */
export function rejectsTemperature(status: number | undefined, body: string | undefined): boolean {
  return rejectedBy.includes(status ?? 0) && /\btemperature\b/i.test(beginningOf(body));
}

const rejectedBy = [400, 404, 415, 422, 500, 501];
