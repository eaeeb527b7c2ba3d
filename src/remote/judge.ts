// Puts a run's questions to the configured language model; whatever happens, what comes back is an answer of model/judge.ts.
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
import {
  type JudgeLine,
  type JudgeCall as LineCall,
  type LineReply,
  type RouteLabels,
  scenariosPerCall,
} from "../model/judge-call.ts";
import { hasWord } from "../model/visible.ts";
import type { Clock } from "./clock.ts";
import { openLine } from "./judge-line.ts";

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
  { onCall, clock }: JudgeOptions = {},
): Judge {
  if (!config)
    return { route: async () => notConfigured, ask: async questions => questions.map(() => notConfigured) };
  const line = openLine(config, { log, ...(clock ? { clock } : {}) });
  const counted = <T>(reply: LineReply<T>): LineReply<T> => {
    if (reply.call) onCall?.(countOf(reply.call));
    return reply;
  };
  return {
    route: (question, asker) => route(line, counted, question, asker),
    ask: (questions, asker) => Promise.all(questions.map(question => ask(line, counted, question, asker))),
  };
}

type Counted = <T>(reply: LineReply<T>) => LineReply<T>;

async function route(
  line: JudgeLine,
  counted: Counted,
  { userInput, scenarios }: RoutingQuestion,
  asker?: AbortSignal,
): Promise<RoutingAnswer> {
  const asked = scenarios.map(({ scenario }, index) => ({ id: `s${index + 1}`, scenario }));
  const labels: RouteLabels = new Map();
  let failed: Failed | undefined;
  const label = async (some: typeof asked) => {
    const reply = counted(await line.route({ userInput, scenarios: some }, asker));
    if (reply.state !== "ok") failed = reply;
    else for (const [id, found] of reply.value) labels.set(id, found);
    return reply.state === "ok";
  };
  await Promise.all(
    chunksOf(asked).map(async chunk => {
      if (!(await label(chunk))) return;
      const missing = chunk.filter(({ id }) => !labels.has(id));
      if (missing.length > 0) await label(missing);
    }),
  );
  if (labels.size === 0 && asked.length > 0) return failed ? unjudged(failed, "unavailable") : unlabelled;
  return {
    state: "ok",
    labels: new Map(
      scenarios.flatMap(({ testId }, index) => {
        const found = labels.get(`s${index + 1}`);
        return found ? [[testId, found]] : [];
      }),
    ),
  };
}

async function ask(
  line: JudgeLine,
  counted: Counted,
  { scenario, userInput, response, criteria, reference }: SemanticQuestion,
  asker?: AbortSignal,
): Promise<SemanticAnswer> {
  if (!hasWord(response)) return wordless;
  const reply = counted(
    await line.judge(
      {
        userInput,
        replies: [{ id: "r1", text: response }],
        criteria: criteria.map((criterion, index) => ({
          ...{ id: `c${index + 1}`, replyId: "r1", scenario, criterion },
          ...(reference === undefined ? {} : { reference }),
        })),
      },
      asker,
    ),
  );
  if (reply.state !== "ok") return unjudged(reply, "budget");
  const verdicts = criteria.flatMap((_, index) => reply.value.get(`c${index + 1}`) ?? []);
  if (verdicts.length < criteria.length) {
    return { state: "unusable", reason: "The judge's answer is unusable: it lacks a verdict." };
  }
  const score = scoreOf(verdicts.map(({ verdict }) => verdict));
  if (score === null) {
    const reason = verdicts.map(({ reason }) => reason).join(" ");
    return { state: "undecided", reason: `The judge could not decide: ${reason}` };
  }
  const { model, promptVersion } = line;
  const spent = reply.call ? { spent: countOf(reply.call) } : {};
  return { state: "ok", score, votes: [{ score, verdicts }], model, promptVersion, cached: false, ...spent };
}

const anchors = { met: 1, mostly: 0.75, partly: 0.4, not_met: 0 };

function scoreOf(words: (keyof typeof anchors | "cannot_tell")[]): number | null {
  const decided = words.flatMap(word => (word === "cannot_tell" ? [] : [anchors[word]]));
  return decided.length === 0 ? null : decided.reduce((sum, one) => sum + one) / decided.length;
}

type Failed = Exclude<LineReply<never>, { state: "ok" }>;

function unjudged({ state, reason }: Failed, broke: "budget" | "unavailable") {
  const said = reason.replace(/^It /, "it ");
  if (state === "unusable") return { state, reason: `The judge's answer is unusable: ${said}` } as const;
  if (state === "budget")
    return { state: broke, reason: "The judge's provider says that its quota is used up." };
  return { state: "unavailable", reason: `The judge is unavailable: ${said}` } as const;
}

function countOf({ kind, state, ms, inputTokens, outputTokens }: LineCall): JudgeCall {
  const down = state === "later" || state === "refused";
  return { kind, ms, inputTokens, outputTokens, state: down ? "unavailable" : state };
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

function chunksOf<T>(items: T[]): T[][] {
  return Array.from({ length: Math.ceil(items.length / scenariosPerCall) }, (_, index) =>
    items.slice(index * scenariosPerCall, (index + 1) * scenariosPerCall),
  );
}
