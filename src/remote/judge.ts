// Puts a run's questions to the configured language model; whatever happens, what comes back is an answer of model/judge.ts.
import { randomBytes } from "node:crypto";
import type { Logger } from "pino";
import type { z } from "zod";
import type {
  Judge,
  RoutingAnswer,
  RoutingQuestion,
  SemanticAnswer,
  SemanticQuestion,
} from "../model/judge.ts";
import { answerSchemas, type Labels, type Read, readLabels, readVerdicts } from "./judge-answers.ts";
import { type Answered, createCaller, type JudgeServer } from "./judge-call.ts";
import { type Attempt, type Clock, createPatience, type Failed, systemClock } from "./judge-patience.ts";
import { hasWord, type Prompt, routingPrompt, scenariosPerCall, semanticPrompt } from "./judge-prompts.ts";

/** `timeoutMs` bounds one call, twice that a question; `concurrency` is the number of calls at a time. */
export type JudgeConfig = JudgeServer & { timeoutMs: number; concurrency: number };

/** One call as it is counted. Tokens are 0 where the server does not say; "aborted" is the caller's doing. */
export type JudgeCall = {
  kind: "route" | "semantic";
  ms: number;
  inputTokens: number;
  outputTokens: number;
  state: "ok" | "unusable" | "unavailable" | "budget" | "aborted";
};

export type JudgeOptions = { onCall?: (call: JudgeCall) => void; clock?: Clock };

/** A judge at the configured server; without a configuration, one that says so to every question. */
export function openJudge(
  config: JudgeConfig | null,
  log: Pick<Logger, "info" | "warn">,
  { onCall, clock = systemClock }: JudgeOptions = {},
): Judge {
  if (config === null) return { route: async () => notConfigured, ask: async () => notConfigured };
  const call = createCaller(config, log);
  const patiently = createPatience(config, clock, log);

  function put<T>(
    kind: JudgeCall["kind"],
    prompt: Prompt,
    schema: z.ZodType,
    read: (text: string) => Read<T>,
    caller: AbortSignal | undefined,
  ): Promise<{ state: "ok"; value: T } | Failed> {
    return patiently(async signal => {
      const started = clock.now();
      const answer = await call(prompt, schema, signal);
      const outcome = answer.state === "answered" ? understood(answer, read) : answer;
      const { inputTokens, outputTokens } = answer.state === "answered" ? answer : noTokens;
      const state = caller?.aborted && outcome.state !== "ok" ? "aborted" : outcome.state;
      onCall?.({ kind, ms: clock.now() - started, inputTokens, outputTokens, state });
      return outcome;
    }, caller);
  }

  async function label(
    userInput: string,
    scenarios: { id: string; scenario: string }[],
    caller?: AbortSignal,
  ) {
    const ids = scenarios.map(({ id }) => id);
    const prompt = routingPrompt({ userInput, scenarios, marker: newMarker() });
    return put("route", prompt, answerSchemas.labels, text => readLabels(text, ids), caller);
  }

  /** The labels of one call's worth of scenarios; those missing from the answer are asked for once more. */
  async function labelChunk(
    userInput: string,
    scenarios: { id: string; scenario: string }[],
    caller?: AbortSignal,
  ): Promise<{ state: "ok"; value: Labels } | Failed> {
    const first = await label(userInput, scenarios, caller);
    if (first.state !== "ok") return first;
    const missing = scenarios.filter(({ id }) => !first.value.has(id));
    if (missing.length === 0) return first;
    const second = await label(userInput, missing, caller);
    if (second.state !== "ok") return first.value.size === 0 ? second : first;
    return { state: "ok", value: new Map([...first.value, ...second.value]) };
  }

  async function route(question: RoutingQuestion, caller?: AbortSignal): Promise<RoutingAnswer> {
    const scenarios = question.scenarios.map(({ scenario }, index) => ({ id: `s${index + 1}`, scenario }));
    const chunks = await Promise.all(
      chunksOf(scenarios).map(chunk => labelChunk(question.userInput, chunk, caller)),
    );
    const answered = chunks.filter(chunk => chunk.state === "ok");
    const failed = chunks.find(chunk => chunk.state !== "ok");
    if (failed && answered.length === 0) {
      return { state: failed.state === "budget" ? "unavailable" : failed.state, reason: failed.reason };
    }
    const byId = new Map(answered.flatMap(chunk => [...chunk.value]));
    if (byId.size === 0 && scenarios.length > 0) return unlabelled;
    const labels: Labels = new Map();
    for (const [index, { testId }] of question.scenarios.entries()) {
      const found = byId.get(`s${index + 1}`);
      if (found) labels.set(testId, found);
    }
    return { state: "ok", labels };
  }

  async function ask(question: SemanticQuestion, caller?: AbortSignal): Promise<SemanticAnswer> {
    const { scenario, userInput, response, criteria, reference } = question;
    if (!hasWord(response)) return wordless;
    const prompt = semanticPrompt({
      scenario,
      criteria: [{ id: "c1", criterion: criteria }],
      reference,
      userInput,
      reply: response,
      marker: newMarker(),
    });
    const read = (text: string) => readVerdicts(text, ["c1"], response);
    const answer = await put("semantic", prompt, answerSchemas.verdicts, read, caller);
    if (answer.state !== "ok") return answer;
    const { score, reason } = answer.value;
    return score === null
      ? { state: "undecided", reason: `The judge could not decide: ${reason}` }
      : { state: "ok", score, reason, model: config!.model };
  }

  return { route, ask };
}

const notConfigured = {
  state: "not_configured",
  reason: "No judge is configured; set SVC_JUDGE_URL and SVC_JUDGE_MODEL.",
} as const;

const unlabelled = {
  state: "unusable",
  reason: "The judge's answer is unusable: it labels none of the scenarios.",
} as const;

// Such replies (":", "👍") win over many judges, so none is asked; nothing was judged, so nothing is failed.
const wordless = {
  state: "undecided",
  reason: "The reply has no word in it, so it was not put to the judge.",
} as const;

const noTokens = { inputTokens: 0, outputTokens: 0 };

function understood<T>({ text, spoiled }: Answered, read: (text: string) => Read<T>): Attempt<T> {
  const found = spoiled === undefined ? read(text) : { ok: false as const, why: spoiled };
  return found.ok ? { state: "ok", value: found.value } : { state: "unusable", why: found.why };
}

function newMarker(): string {
  return randomBytes(12).toString("hex");
}

function chunksOf<T>(items: T[]): T[][] {
  return Array.from({ length: Math.ceil(items.length / scenariosPerCall) }, (_, index) =>
    items.slice(index * scenariosPerCall, (index + 1) * scenariosPerCall),
  );
}
