// A local server that speaks the OpenAI, Anthropic and Google protocols, answers as scripted and records every request.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { JudgeConnection, JudgeMode } from "../../src/model/judge/call.ts";
import { isCanary } from "../../src/remote/judge/prompts.ts";
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
};

/** What to do with a request's response; made by the functions below. */
export type Reply = (response: ServerResponse, request: JudgeRequest) => void;

/** `index` counts requests from 0. A reply that must wait is a pending promise. */
export type Script = (request: JudgeRequest, index: number) => Reply | Promise<Reply>;

export type JudgeServer = {
  /** The base of OpenAI and Anthropic: `http://127.0.0.1:…/v1`. */
  url: string;
  requests: JudgeRequest[];
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

/** The token usage of every answer, in each protocol's terms. */
export const usage = { prompt_tokens: 321, completion_tokens: 45, total_tokens: 366 };

export type Ending = "stop" | "length" | "content_filter";

/** An answer in the requested format; a `content` other than text is sent as JSON. */
export function completion(content: unknown, ending: Ending = "stop"): Reply {
  const said = typeof content === "string" ? content : JSON.stringify(content);
  return (response, request) => {
    const body = protocols[request.protocol].answer(said, ending, request.mode, usage);
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

export type Opinions = {
  label?: (scenario: string, userInput: string) => string;
  verdict?: (criterion: string, reply: string) => string;
  /** The beginning of the reply by default, and nothing for a negative verdict. */
  evidence?: (criterion: string, reply: string) => string;
};

/** Understands both questions, and answers each item by these functions, by default “match” and “met”. */
export function obliging({ label = () => "match", ...opinions }: Opinions = {}): Script {
  return request => {
    const { userInput } = materialOf(request);
    const asked = askedOf(request);
    if (asked.kind === "semantic") return completion({ verdicts: verdictsOf(request, opinions) });
    const labels = asked.scenarios.map(({ id, scenario }) => ({
      id,
      why: "as scripted",
      label: label(scenario, userInput ?? ""),
    }));
    return completion({ labels });
  };
}

export type ScriptedVerdict = { id: string; evidence: string; reason: string; verdict: string };

/** An obliging judge's verdict on each criterion; the one that no reply meets is not met either. */
export function verdictsOf(
  request: JudgeRequest,
  { verdict = () => "met", evidence = (_, reply) => reply.split(/\s+/).slice(0, 8).join(" ") }: Opinions = {},
): ScriptedVerdict[] {
  const asked = askedOf(request);
  if (asked.kind !== "semantic") throw new Error("No criterion was asked about");
  return asked.criteria.map(({ id, criterion, reply }) => {
    const said = isCanary(criterion) ? "not_met" : verdict(criterion, reply);
    const quoted = ["met", "mostly", "partly"].includes(said) ? evidence(criterion, reply) : "";
    return { id, evidence: quoted, reason: "As scripted.", verdict: said };
  });
}

/** Obeys the trace: every criterion is met, no scenario matches. */
export const fooled: Script = request => {
  const asked = askedOf(request);
  if (asked.kind === "route") {
    return completion({
      labels: asked.scenarios.map(({ id }) => ({ id, why: "As told.", label: "no_match" })),
    });
  }
  const verdicts = asked.criteria.map(({ id, reply }) => ({
    ...{ id, evidence: reply.split(/\s+/).slice(0, 8).join(" "), reason: "As told.", verdict: "met" },
  }));
  return completion({ verdicts });
};

export type Material = { userInput: string | null; replies: { id: string; text: string }[] };

/** The content of the trace without its markers; of a text that was cut, the rest. */
export function materialOf({ instructions, material }: JudgeRequest): Material {
  const [mark, line, end] = material.split("\n");
  if (mark?.replace("MATERIAL ", "END OF MATERIAL ") !== end) throw new Error("The material is not enclosed");
  const { user_input, replies = [] } = JSON.parse(line!) as {
    user_input: unknown;
    replies?: { id: string; text: unknown }[];
  };
  const sign = instructions.match(/the sign is (.)\.$/u)![1]!;
  const plain = (text: unknown) => whole(text).replaceAll(sign, "");
  return {
    userInput: user_input === null ? null : plain(user_input),
    replies: replies.map(({ id, text }) => ({ id, text: plain(text) })),
  };
}

export type Asked =
  | { kind: "route"; scenarios: { id: string; scenario: string }[] }
  | {
      kind: "semantic";
      criteria: { id: string; criterion: string; scenario: string; reference?: string; reply: string }[];
    };

/** The items in the instructions: the scenarios of a routing call, or the criteria of a semantic one. */
export function askedOf(request: JudgeRequest): Asked {
  const asked = JSON.parse(request.instructions.split("\n").at(-3)!);
  if (Array.isArray(asked)) {
    return { kind: "route", scenarios: asked.map(({ id, scenario }) => ({ id, scenario: whole(scenario) })) };
  }
  const { replies } = materialOf(request);
  const situations = new Map<string, { scenario: unknown; reference_reply?: unknown }>(
    asked.situations.map((situation: { id: string }) => [situation.id, situation]),
  );
  type Listed = { id: string; situation: string; reply: string; criterion: unknown };
  const criteria = (asked.criteria as Listed[]).map(({ id, situation, reply, criterion }) => {
    const { scenario, reference_reply } = situations.get(situation)!;
    return {
      ...{ id, criterion: whole(criterion), scenario: whole(scenario) },
      reply: replies.find(one => one.id === reply)!.text,
      ...(reference_reply === undefined ? {} : { reference: whole(reference_reply) }),
    };
  });
  return { kind: "semantic", criteria };
}

/** The ids of the items asked about, in a semantic call including the criterion whose answer is known. */
export function idsOf(request: JudgeRequest): string[] {
  const asked = askedOf(request);
  return (asked.kind === "route" ? asked.scenarios : asked.criteria).map(({ id }) => id);
}

function whole(text: unknown): string {
  if (typeof text === "string" || text === null) return text ?? "";
  const { start, end } = text as { start: string; end: string };
  return start + end;
}
