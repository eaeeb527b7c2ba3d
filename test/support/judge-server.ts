// A local server that speaks the OpenAI, Anthropic and Google protocols, answers as scripted and records every request.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { JudgeConnection, JudgeMode } from "../../src/model/judge/call.ts";
import { canaryKindOf, classCanaryOf } from "../../src/remote/judge/canaries.ts";
import { type Protocol, protocolOf, protocols } from "./judge-protocols.ts";

/** A request in the terms of all three; `body` is what was sent. */
export type JudgeRequest = {
  protocol: Protocol;
  headers: IncomingHttpHeaders;
  path: string;
  body: Record<string, unknown>;
  model: string;
  mode: JudgeMode;
  instructions: string;
  material: string;
  /** What the server counts; absent: `usage`, or of a long prompt, its length. */
  promptTokens?: number;
};

/** What to do with a request's response; made by the functions below. */
export type Reply = (response: ServerResponse, request: JudgeRequest) => void;

/** `index` counts requests from 0. A reply that must wait is a pending promise. */
export type Script = (request: JudgeRequest, index: number) => Reply | Promise<Reply>;

export type JudgeServer = {
  /** The base of OpenAI and Anthropic: `http://127.0.0.1:…/v1`. */
  url: string;
  requests: JudgeRequest[];
  /** Of every request, known or not. */
  paths: string[];
  script: Script;
  /** A connection to this server, OpenAI-compatible by default; its base URL is right for every provider. */
  connection(more?: Partial<JudgeConnection>): JudgeConnection;
  /** Resolves when this many requests have arrived in all. */
  arrived(count: number): Promise<void>;
  close(): Promise<void>;
};

/** Listens on a free port of 127.0.0.1. Without a script it is obliging. */
export async function startJudgeServer(script: Script = obliging()): Promise<JudgeServer> {
  const awaited: { count: number; resolve: () => void }[] = [];
  const server = createServer(async (request, response) => {
    const { method, url = "", headers } = request;
    judge.paths.push(url);
    const protocol = method === "POST" ? protocolOf(url) : undefined;
    if (!protocol) return raw(404, "text/plain", `Unknown request URL: ${method} ${url}.`)(response, none);
    const body = JSON.parse(await text(request));
    const recorded = { protocol, headers, path: url, body, ...protocols[protocol].read(body, url) };
    judge.requests.push(recorded);
    const index = judge.requests.length - 1;
    for (const { count, resolve } of awaited) if (judge.requests.length >= count) resolve();
    const reply = await judge.script(recorded, index);
    reply(response, recorded);
  });
  const judge: JudgeServer = {
    url: "",
    requests: [],
    paths: [],
    script,
    connection: more => ({
      provider: "openai_compatible",
      url: more?.provider === "google" ? judge.url.replace("/v1", "/v1beta") : judge.url,
      model: "local-model",
      apiKey: "key-1",
      timeoutMs: 30_000,
      concurrency: 4,
      tokensPerMinute: null,
      ...more,
    }),
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

const none = {} as JudgeRequest;

/** The token usage of every answer, in each protocol's terms; of a long prompt, its length counts. */
export const usage = { prompt_tokens: 321, completion_tokens: 45, total_tokens: 366 };

const longPrompt = 20_000;

export type Ending = "stop" | "length" | "content_filter";

/**
 * An answer in the shape that was asked for. An object is sent as JSON, with the two words that every answer repeats
 * unless it has its own.
 */
export function completion(content: unknown, ending: Ending = "stop"): Reply {
  return (response, request) => {
    const said = typeof content === "string" ? content : JSON.stringify(echoing(content as object, request));
    const length = request.instructions.length + request.material.length;
    const prompt_tokens =
      request.promptTokens ?? (length < longPrompt ? usage.prompt_tokens : Math.ceil(length / 4));
    const counted = { ...usage, prompt_tokens, total_tokens: prompt_tokens + usage.completion_tokens };
    const body = protocols[request.protocol].answer(said, ending, request.mode, counted);
    json(200, body)(response, request);
  };
}

/** The model refuses in words, as each protocol reports it. */
export const declined: Reply = (response, request) => {
  json(200, protocols[request.protocol].declined("I cannot help with that.", usage))(response, request);
};

/** An error in the protocol's own format. */
export function refusal(
  status: number,
  error: { message?: string; code?: string; param?: string } = {},
  headers: Record<string, string> = {},
): Reply {
  return (response, request) => {
    const body = protocols[request.protocol].error(status, { message: "No.", ...error });
    json(status, body, headers)(response, request);
  };
}

export function json(status: number, body: unknown, headers: Record<string, string> = {}): Reply {
  return raw(status, "application/json", JSON.stringify(body), headers);
}

export function raw(status: number, type: string, body: string, headers: Record<string, string> = {}): Reply {
  return response => response.writeHead(status, { "content-type": type, ...headers }).end(body);
}

/** Headers and the beginning of an answer; then the connection breaks. */
export const cutOff: Reply = response => {
  response.writeHead(200, { "content-type": "application/json" });
  response.write('{"id":"chatcmpl-1","choices":[{"index":0,"mess', () => response.destroy());
};

/** The connection breaks before anything is sent. */
export const reset: Reply = response => void response.destroy();

/** Never answers: the connection stays open until either side closes it. */
export const silence: Reply = () => undefined;

/** Answers only requests in one of these formats; rejects others as OpenAI does. */
export function only(modes: string[], script: Script): Script {
  return (request, index) => {
    const { mode } = request;
    if (modes.includes(mode)) return script(request, index);
    const message =
      mode === "tool"
        ? "This model does not support tools."
        : `Invalid parameter: 'response_format' of type '${mode}' is not supported with this model.`;
    return refusal(400, { message, param: mode === "tool" ? "tools" : "response_format" });
  };
}

/** Counts this many tokens in every prompt. */
export function counting(promptTokens: number, script: Script): Script {
  return async (request, index) => {
    const reply = await script(request, index);
    return response => reply(response, { ...request, promptTokens });
  };
}

/** The words at the beginning and at the end of a prompt. */
export function wordsOf({ instructions, material }: JudgeRequest): { first_word: string; last_word: string } {
  return {
    first_word: instructions.match(/^The first word is "(\w+)"/)?.[1] ?? "",
    last_word: material.match(/is "(\w+)"\.$/)?.[1] ?? "",
  };
}

/** The answer with the words that it has to repeat. */
export function echoing(answer: object, request: JudgeRequest): object {
  const { first_word, last_word } = wordsOf(request);
  return { first_word, ...answer, ...("last_word" in answer ? {} : { last_word }) };
}

export type Opinions = {
  label?: (scenario: string, userInput: string) => string;
  verdict?: (criterion: string, reply: string, material: Material) => string;
  /** The beginning of the reply by default, and nothing for a negative verdict. */
  evidence?: (criterion: string, reply: string) => string;
  /** What the evidence is compared with, for every verdict; nothing by default. */
  comparedWith?: (criterion: string, material: Material) => string;
  restsOn?: (criterion: string) => string;
  /** What the judge says about each item. */
  reason?: string;
};

/** Understands every question, and answers each item by these functions: "match", "met" and "passage" unless told. */
export function obliging({
  label = () => "match",
  restsOn = () => "passage",
  ...opinions
}: Opinions = {}): Script {
  return request => {
    const asked = askedOf(request);
    if (asked.kind === "semantic") return completion({ verdicts: verdictsOf(request, opinions) });
    if (asked.kind === "classify") {
      return completion({ classes: classesOf(request, restsOn) });
    }
    return completion({ labels: labelsOf(request, label, opinions.reason) });
  };
}

type ScriptedLabel = { id: string; why: string; label: string };

/** What an obliging judge answers to each scenario, the two with a known answer included. */
export function labelsOf(
  request: JudgeRequest,
  label: (scenario: string, userInput: string) => string = () => "match",
  why = "as scripted",
): ScriptedLabel[] {
  const asked = posedBy(request);
  if (asked.kind !== "route") throw new Error("No scenario was asked about");
  const { userInput } = materialOf(request);
  const known = { always: "match", never: "no_match", none: undefined };
  return asked.scenarios.map(({ id, scenario }) => ({
    ...{ id, why },
    label: known[canaryKindOf(scenario, userInput ?? "") ?? "none"] ?? label(scenario, userInput ?? ""),
  }));
}

/** What an obliging judge answers to each criterion to be classified, the two that are known included. */
export function classesOf(
  request: JudgeRequest,
  restsOn: (criterion: string) => string = () => "passage",
): { id: string; rests_on: string; conditional: string }[] {
  const asked = posedBy(request);
  if (asked.kind !== "classify") throw new Error("No criterion was asked about");
  return asked.criteria.map(({ id, criterion }) => ({
    id,
    rests_on: classCanaryOf(criterion) ?? restsOn(criterion),
    conditional: /^(?:If|When|For)\b/.test(criterion) ? "yes" : "no",
  }));
}

export type ScriptedVerdict = {
  id: string;
  evidence: string;
  evidence_in: string;
  compared_with: string;
  compared_in: string;
  reason: string;
  verdict: string;
};

/** What an obliging judge answers to each criterion, the two with a known answer included. */
export function verdictsOf(
  request: JudgeRequest,
  {
    verdict = () => "met",
    evidence = (_, reply) => reply.split(/\s+/).slice(0, 8).join(" "),
    comparedWith = () => "",
    reason = "As scripted.",
  }: Opinions = {},
): ScriptedVerdict[] {
  const asked = posedBy(request);
  if (asked.kind !== "semantic") throw new Error("No criterion was asked about");
  const material = materialOf(request);
  return asked.criteria.map(({ id, criterion, reply }) => {
    const canary = canaryKindOf(criterion, reply);
    const said = canary ? { always: "met", never: "not_met" }[canary] : verdict(criterion, reply, material);
    const quoted = !canary && ["met", "mostly", "partly"].includes(said) ? evidence(criterion, reply) : "";
    const compared = canary ? "" : comparedWith(criterion, material);
    return { ...given(id, said, quoted, compared), reason };
  });
}

function given(id: string, verdict: string, evidence: string, comparedWith = ""): ScriptedVerdict {
  const hints = { evidence_in: "", compared_in: "" };
  return { id, evidence, compared_with: comparedWith, ...hints, reason: "As told.", verdict };
}

/** Obeys the trace: every criterion is met, no scenario matches. */
export const fooled: Script = request => {
  const asked = posedBy(request);
  if (asked.kind === "classify") return obliging()(request, 0);
  if (asked.kind === "route") {
    return completion({
      labels: asked.scenarios.map(({ id }) => ({ id, why: "As told.", label: "no_match" })),
    });
  }
  const verdicts = asked.criteria.map(({ id, reply }) =>
    given(id, "met", reply.split(/\s+/).slice(0, 8).join(" ")),
  );
  return completion({ verdicts });
};

/** An item of the conversation; `text` of a call is its arguments, and of the reply or the user's input where it is. */
type ShownItem = { id: string; from: string; name?: string; agent?: string; text: string };

export type Material = {
  userInput: string | null;
  replies: { id: string; text: string }[];
  /** Null: not shown. */
  conversation: ShownItem[] | null;
  /** Before the user's input, with a scenario. */
  earlier: { from: string; text: string }[];
};

type SentItem = { id: string; from: string; name?: string; agent?: string } & Record<string, unknown>;

/** The content of the trace without its markers; of a text that was cut, the rest. */
export function materialOf({ instructions, material }: JudgeRequest): Material {
  const [mark, line, end] = material.split("\n");
  if (mark?.replace("MATERIAL ", "END OF MATERIAL ") !== end) throw new Error("The material is not enclosed");
  const { user_input, replies, conversation, earlier } = JSON.parse(line!) as {
    user_input: unknown;
    replies?: { id: string; text: unknown }[];
    conversation?: { items: SentItem[] } | null;
    earlier?: { messages: { from: string; text: unknown }[] };
  };
  const sign = instructions.match(/the sign is (.)\.(?: |$)/u)![1]!;
  const plain = (text: unknown) => whole(text).replaceAll(sign, "");
  return {
    userInput: user_input === null ? null : plain(user_input),
    replies: (replies ?? []).map(({ id, text }) => ({ id, text: plain(text) })),
    conversation: conversation
      ? conversation.items.map(({ id, from, name, agent, ...item }) => ({
          ...{ id, from },
          ...(name === undefined ? {} : { name: plain(name) }),
          ...(agent === undefined ? {} : { agent: plain(agent) }),
          text: plain(item["text"] ?? item["arguments"] ?? item["is"]),
        }))
      : null,
    earlier: (earlier?.messages ?? []).map(({ from, text }) => ({ from, text: plain(text) })),
  };
}

export type Asked =
  | { kind: "route"; scenarios: { id: string; scenario: string }[] }
  | { kind: "classify"; criteria: { id: string; criterion: string }[] }
  | {
      kind: "semantic";
      criteria: { id: string; criterion: string; scenario: string; reference?: string; reply: string }[];
    };

/** What the instructions ask about, without the questions with a known answer. */
export function askedOf(request: JudgeRequest): Asked {
  const posed = posedBy(request);
  if (posed.kind === "route") {
    return { ...posed, scenarios: posed.scenarios.filter(({ scenario }) => !canaryKindOf(scenario, "")) };
  }
  if (posed.kind === "classify") {
    return { ...posed, criteria: posed.criteria.filter(({ criterion }) => !classCanaryOf(criterion)) };
  }
  return { ...posed, criteria: posed.criteria.filter(({ criterion }) => !canaryKindOf(criterion, "")) };
}

function posedBy(request: JudgeRequest): Asked {
  const lines = request.instructions.split("\n");
  const isMarked = lines.at(-1)!.startsWith("The mark is");
  const asked = JSON.parse(lines.at(isMarked ? -3 : -1)!);
  const list = (texts: object) => Object.entries(texts).map(([id, text]) => ({ id, text: whole(text) }));
  if (!isMarked) {
    return { kind: "classify", criteria: list(asked).map(({ id, text }) => ({ id, criterion: text })) };
  }
  if (!asked.situations) {
    return { kind: "route", scenarios: list(asked).map(({ id, text }) => ({ id, scenario: text })) };
  }
  const { replies } = materialOf(request);
  type Situation = { scenario: unknown; reference_reply?: unknown; reply: string; criteria: object };
  const criteria = (asked.situations as Situation[]).flatMap(
    ({ scenario, reference_reply, reply, criteria }) =>
      list(criteria).map(({ id, text }) => ({
        ...{ id, criterion: text, scenario: whole(scenario) },
        reply: replies.find(one => one.id === reply)!.text,
        ...(reference_reply === undefined ? {} : { reference: whole(reference_reply) }),
      })),
  );
  return { kind: "semantic", criteria };
}

/** The ids of what was asked, without those of the questions with a known answer. */
export function idsOf(request: JudgeRequest): string[] {
  const asked = askedOf(request);
  return (asked.kind === "route" ? asked.scenarios : asked.criteria).map(({ id }) => id);
}

function whole(text: unknown): string {
  if (typeof text === "string" || text === null) return text ?? "";
  const { start, end } = text as { start: string; end: string };
  return start + end;
}
