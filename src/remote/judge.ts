// Puts a run's questions to the configured language model; whatever happens, what comes back is an answer of model/judge.ts.
import { randomBytes } from "node:crypto";
import type { Logger } from "pino";
import type { JudgeConfig } from "../config.ts";
import type {
  Judge,
  RoutingAnswer,
  RoutingQuestion,
  SemanticAnswer,
  SemanticQuestion,
  Spent,
} from "../model/judge.ts";
import { answerSchemas, type Labels, type Read, readLabels, readVerdicts } from "./judge-answers.ts";
import { type Answered, createCaller } from "./judge-call.ts";
import { type Attempt, type Clock, createPatience, type Failed, systemClock } from "./judge-patience.ts";
import { hasWord, type Prompt, routingPrompt, scenariosPerCall, semanticPrompt } from "./judge-prompts.ts";

/** One call as it is counted. Tokens are 0 where the server does not say; "aborted" is the asker's doing. */
export type JudgeCall = Spent & {
  kind: "route" | "semantic";
  state: "ok" | "unusable" | "unavailable" | "budget" | "aborted";
};

export type JudgeOptions = { onCall?: (call: JudgeCall) => void; clock?: Clock };

/** A judge at the configured server; without a configuration, one that says so to every question. */
export function openJudge(
  config: JudgeConfig | null | undefined,
  log: Pick<Logger, "info" | "warn">,
  options: JudgeOptions = {},
): Judge {
  if (!config)
    return { route: async () => notConfigured, ask: async questions => questions.map(() => notConfigured) };
  const put = createPut(config, log, options);
  return {
    route: (question, asker) => route(put, question, asker),
    ask: (questions, asker) =>
      Promise.all(questions.map(question => ask(put, config.model, question, asker))),
  };
}

type Putting<T> = { kind: JudgeCall["kind"]; prompt: Prompt; read: (text: string) => Read<T> };

/** Puts one prompt until it is answered or given up on, and counts every call. `asker` withdraws it. */
type Put = <T>(
  putting: Putting<T>,
  asker: AbortSignal | undefined,
) => Promise<{ state: "ok"; value: T; spent: Spent } | Failed>;

function createPut(
  config: JudgeConfig,
  log: Pick<Logger, "info" | "warn">,
  { onCall, clock = systemClock }: JudgeOptions,
): Put {
  const call = createCaller(config, log);
  const patiently = createPatience(config, clock, log);
  return async ({ kind, prompt, read }, asker) => {
    let spent: Spent = { ms: 0, ...noTokens };
    const outcome = await patiently(async signal => {
      const started = clock.now();
      const answer = await call(prompt, answerSchemas[kind], signal);
      const outcome = answer.state === "answered" ? understood(answer, read) : answer;
      const { inputTokens, outputTokens } = answer.state === "answered" ? answer : noTokens;
      spent = { ms: clock.now() - started, inputTokens, outputTokens };
      const state = asker?.aborted && outcome.state !== "ok" ? "aborted" : outcome.state;
      onCall?.({ kind, ...spent, state });
      return outcome;
    }, asker);
    return outcome.state === "ok" ? { ...outcome, spent } : outcome;
  };
}

async function route(put: Put, question: RoutingQuestion, asker?: AbortSignal): Promise<RoutingAnswer> {
  const scenarios = question.scenarios.map(({ scenario }, index) => ({ id: `s${index + 1}`, scenario }));
  const chunks = await Promise.all(
    chunksOf(scenarios).map(chunk => labelsOf(put, question.userInput, chunk, asker)),
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

type Scenarios = { id: string; scenario: string }[];

/** The labels of one call's worth of scenarios; those missing from the answer are asked for once more (F3). */
async function labelsOf(put: Put, userInput: string, scenarios: Scenarios, asker?: AbortSignal) {
  const label = (asked: Scenarios) => {
    const ids = asked.map(({ id }) => id);
    const prompt = routingPrompt({ userInput, scenarios: asked, marker: newMarker() });
    return put({ kind: "route", prompt, read: text => readLabels(text, ids) }, asker);
  };
  const first = await label(scenarios);
  if (first.state !== "ok") return first;
  const missing = scenarios.filter(({ id }) => !first.value.has(id));
  if (missing.length === 0) return first;
  const second = await label(missing);
  if (second.state !== "ok") return first.value.size === 0 ? second : first;
  return { state: "ok" as const, value: new Map([...first.value, ...second.value]) };
}

async function ask(
  put: Put,
  model: string,
  question: SemanticQuestion,
  asker?: AbortSignal,
): Promise<SemanticAnswer> {
  const { scenario, userInput, response: reply, criteria, reference } = question;
  if (!hasWord(reply)) return wordless;
  const ids = criteria.map((_, at) => `c${at + 1}`);
  const prompt = semanticPrompt({
    scenario,
    criteria: criteria.map((criterion, at) => ({ id: `c${at + 1}`, criterion })),
    reference,
    userInput,
    reply,
    marker: newMarker(),
  });
  const answer = await put({ kind: "semantic", prompt, read: text => readVerdicts(text, ids, reply) }, asker);
  if (answer.state !== "ok") return answer;
  const { score, reason } = answer.value;
  return score === null
    ? { state: "undecided", reason: `The judge could not decide: ${reason}` }
    : {
        state: "ok",
        score,
        votes: [{ score, verdicts: [] }],
        model,
        promptVersion: "1",
        cached: false,
        spent: answer.spent,
      };
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
