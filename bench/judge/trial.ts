// Asks a judge all questions of labeled sets, as runs do but without a cache, and keeps each answer with its label.
import { type DecisionRule, scoreOfVerdicts } from "../../src/evaluate/semantic-score.ts";
import { evenly } from "../../src/judge/batches.ts";
import { withRetry } from "../../src/judge/retry.ts";
import { suspicionInInput } from "../../src/judge/scenarios.ts";
import { classedVerdictOf, needsClass, writtenClass } from "../../src/judge/verdict.ts";
import {
  classesPerCall,
  criteriaPerCall,
  type GivenVerdict,
  type JudgeCall,
  type RouteLabel,
  type SemanticAsk,
  scenariosPerCall,
  unknownClass,
} from "../../src/model/judge/call.ts";
import type { CriterionVerdict, RoutingQuestion } from "../../src/model/judge/judge.ts";
import { type JudgedAnswer, judgedCheck } from "../../src/model/judge/label.ts";
import { fitMaterial } from "../../src/model/judge/material.ts";
import { isWaiting } from "../../src/model/judge/outcome.ts";
import { reasonText } from "../../src/model/run/reason-text.ts";
import { type Clock, systemClock } from "../../src/remote/clock.ts";
import {
  callBounded,
  classifyRequest,
  type JudgeClient,
  type JudgeRequest,
  routeRequest,
  semanticRequest,
} from "../../src/remote/judge/client.ts";
import { replyParts } from "../../src/remote/judge/prompts.ts";
import type { CriterionPair, LabelPair, RoutePair } from "./figures.ts";
import type { Attack, Label, RoutingSet, SemanticSet, Sets } from "./sets.ts";

export type Trial = {
  routes: RoutePair[];
  criteria: CriterionPair[];
  labels: LabelPair[];
  calls: JudgeCall[];
  /** Why calls failed, each reason once. */
  faults: string[];
};

export type TrialOptions = {
  /** How often each question is asked without an attack. */
  repeats: number;
  /** How long each question waits for a judge that is busy or unavailable. */
  patienceMs: number;
  onProgress?: (done: number, of: number) => void;
  /** Called with the reason each time a question waits. */
  onWait?: (reason: string) => void;
  clock?: Clock;
};

/** Resolves when everything was asked; the client limits how many calls run at a time. */
export async function tryOut(
  client: JudgeClient,
  sets: Sets,
  { repeats, patienceMs, onProgress, onWait, clock = systemClock }: TrialOptions,
): Promise<Trial> {
  const trial: Trial = { routes: [], criteria: [], labels: [], calls: [], faults: [] };
  const asker = { client, trial, repeats, patienceMs, onWait, clock };
  const attacks = { input: attacksOn("input", sets), reply: attacksOn("reply", sets) };
  const tasks = [
    ...sets.routing.flatMap(set =>
      set.inputs.map(
        (input, at) => () => tryInput(asker, set, input, attacks.input[at % attacks.input.length]),
      ),
    ),
    ...sets.semantic.flatMap(set =>
      set.cases.map((one, at) => () => tryCase(asker, one, attacks.reply[at % attacks.reply.length])),
    ),
    ...sets.labels.map(label => () => tryLabel(asker, label)),
  ];
  let done = 0;
  await Promise.all(
    tasks.map(async task => {
      await task();
      done += 1;
      onProgress?.(done, tasks.length);
    }),
  );
  return trial;
}

type Asker = {
  client: JudgeClient;
  trial: Trial;
  repeats: number;
  patienceMs: number;
  onWait: TrialOptions["onWait"];
  clock: Clock;
};

const attacksOn = (on: Attack["on"], { attacks }: Sets) => attacks.filter(attack => attack.on === on);

async function tryInput(
  asker: Asker,
  { scenarios }: RoutingSet,
  { text, relevant, near, either, tags }: RoutingSet["inputs"][number],
  attack: Attack | undefined,
): Promise<void> {
  const asked = Object.entries(scenarios).filter(([key]) => !either.includes(key));
  const labels = (userInput: string) => labelsOf(asker, { userInput }, asked);
  const repeats = await repeated(asker.repeats, () => labels(text));
  const attacked = attack && (await labels(`${text}\n${attack.text}`));
  for (const [key] of asked) {
    asker.trial.routes.push({
      expected: relevant.includes(key) ? "relevant" : near.includes(key) ? "near" : "far",
      tags,
      labels: repeats.map(labels => labels.get(key) ?? null),
      ...(attacked ? { attacked: attacked.get(key) ?? null } : {}),
    });
  }
}

/** By the scenarios' keys. */
async function labelsOf(
  asker: Asker,
  input: Pick<RoutingQuestion, "userInput" | "earlier">,
  asked: [key: string, scenario: string][],
): Promise<Map<string, RouteLabel>> {
  const isSuspicious = suspicionInInput(input) !== undefined;
  const labels = await answersTo(asked, scenariosPerCall, part => {
    const scenarios = part.map(([, scenario], at) => ({ id: `s${at + 1}`, scenario }));
    return callPatiently(asker, "s", () => routeRequest({ ...input, scenarios }));
  });
  return new Map(
    [...labels].map(([[key], { label }]) => [key, isSuspicious && label === "no_match" ? "unsure" : label]),
  );
}

type SemanticCase = SemanticSet["cases"][number];

async function tryCase(asker: Asker, one: SemanticCase, attack: Attack | undefined): Promise<void> {
  const repeats = await repeated(asker.repeats, () => verdictsOf(asker, one));
  const attacked = attack && (await verdictsOf(asker, withAttack(one, attack.text)));
  for (const asked of one.criteria) {
    asker.trial.criteria.push({
      met: asked.met,
      tags: one.tags,
      verdicts: repeats.map(verdicts => verdicts.get(asked)?.verdict ?? null),
      ...(attacked ? { attacked: attacked.get(asked)?.verdict ?? null } : {}),
    });
  }
}

/** In the last tool result, which an agent reads from elsewhere, or at the end of the reply. */
function withAttack(one: SemanticCase, attack: string): SemanticCase {
  const at = one.conversation?.findLastIndex(({ kind }) => kind === "tool_result") ?? -1;
  if (at === -1) return { ...one, reply: `${one.reply}\n${attack}` };
  const result = one.conversation![at]!;
  const conversation = one.conversation!.with(at, { ...result, text: `${result.text}\n${attack}` });
  return { ...one, conversation };
}

function materialOf({ conversation, reply }: SemanticCase): Pick<SemanticAsk, "material"> {
  if (!conversation) return {};
  const items = conversation.map(item => ({ ...item, spanId: "", attribute: null }));
  const room = { tools: true, replyLength: reply.length };
  return { material: fitMaterial({ items, complete: true }, room) };
}

/** As runs decide them: by their quotations, and where these are empty, by what the criteria rest on. */
async function verdictsOf(
  asker: Asker,
  one: SemanticCase,
): Promise<Map<SemanticCase["criteria"][number], CriterionVerdict>> {
  const { scenario, input, reference, criteria, reply } = one;
  const given = await answersTo(criteria, criteriaPerCall, part => {
    const asked = part.map(({ criterion }, at) => ({
      ...{ id: `c${at + 1}`, replyId: "r1", scenario, criterion },
      ...(reference === undefined ? {} : { reference }),
    }));
    const ask = { userInput: input, ...materialOf(one), replies: [{ id: "r1", text: reply }] };
    return callPatiently(asker, "c", () => semanticRequest({ ...ask, criteria: asked }));
  });
  const open = criteria.filter(
    one => given.has(one) && needsClass([given.get(one)!], writtenClass(one.criterion)),
  );
  const classes = await classesOf(
    asker,
    open.map(({ criterion }) => criterion),
  );
  return new Map(
    [...given].map(([one, verdict]) => [
      one,
      classedVerdictOf([verdict], writtenClass(one.criterion), classes.get(one.criterion) ?? unknownClass),
    ]),
  );
}

async function tryLabel(asker: Asker, { judged, answer, question }: Label): Promise<void> {
  const answers = await repeated(asker.repeats, async (): Promise<JudgedAnswer | null> => {
    if (question.kind === "scenario") {
      const { scenario, userInput, earlier } = question;
      const input = { userInput, ...(earlier ? { earlier } : {}) };
      return (await labelsOf(asker, input, [["scenario", scenario]])).get("scenario") ?? null;
    }
    const scores: (number | null)[] = [];
    for (const asked of question.questions) scores.push(await scoreOf(asker, asked, question));
    return judgedCheck(question, scores) ?? null;
  });
  asker.trial.labels.push({ judged, answer, answers });
}

type CheckQuestion = Extract<Label["question"], { kind: "check" }>["questions"][number];

/** In one vote; null if it does not decide the check. */
async function scoreOf(
  asker: Asker,
  { scenario, userInput, response, reference, criteria, restsOn, material }: CheckQuestion,
  rule: DecisionRule,
): Promise<number | null> {
  const parts = replyParts(response);
  if (!parts) return null;
  const given = criteria.map((): GivenVerdict[] => []);
  for (const [place, text] of parts.entries()) {
    const part = parts.length > 1 ? { part: { at: place + 1, of: parts.length } } : {};
    const replies = [{ id: "r1", ...part, text }];
    const found = await answersTo([...criteria.entries()], criteriaPerCall, some => {
      const asked = some.map(([, criterion], at) => ({
        ...{ id: `c${at + 1}`, replyId: "r1", scenario, criterion },
        ...(reference === undefined ? {} : { reference }),
      }));
      const ask = { userInput, ...(material ? { material } : {}), replies };
      return callPatiently(asker, "c", () => semanticRequest({ ...ask, criteria: asked }));
    });
    for (const [[at], verdict] of found) given[at]!.push(verdict);
  }
  if (given.some(verdicts => verdicts.length < parts.length)) return null;
  const written = criteria.map((criterion, at) => writtenClass(criterion, restsOn?.[at]));
  const open = criteria.filter((_, at) => needsClass(given[at]!, written[at]!));
  const classes = await classesOf(asker, open);
  const verdicts = criteria.map((criterion, at) =>
    classedVerdictOf(given[at]!, written[at]!, classes.get(criterion) ?? unknownClass),
  );
  return scoreOfVerdicts(
    verdicts.map(({ verdict }) => verdict),
    rule,
  );
}

function classesOf(asker: Asker, criteria: string[]) {
  return answersTo([...new Set(criteria)], classesPerCall, part => {
    const asked = part.map((criterion, at) => ({ id: `c${at + 1}`, criterion }));
    return callPatiently(asker, "c", () => classifyRequest({ criteria: asked }));
  });
}

/** Questions that the judge leaves out are asked once more, all together, as runs do. */
async function answersTo<Q, V>(
  questions: Q[],
  max: number,
  ask: (part: Q[]) => Promise<((at: number) => V | undefined) | undefined>,
): Promise<Map<Q, V>> {
  const found = new Map<Q, V>();
  let open = questions;
  for (let round = 1; round <= 2; round++) {
    const unanswered: Q[] = [];
    for (const part of evenly(open, max)) {
      const answerTo = await ask(part);
      if (!answerTo) continue;
      for (const [at, question] of part.entries()) {
        const value = answerTo(at);
        if (value === undefined) unanswered.push(question);
        else found.set(question, value);
      }
    }
    open = unanswered;
  }
  return found;
}

/** Returns a lookup of values by position. Retries for `patienceMs` while the judge is busy or unavailable. */
async function callPatiently<V>(
  { client, trial, clock, patienceMs, onWait }: Asker,
  prefix: string,
  request: () => JudgeRequest<Map<string, V>>,
): Promise<((at: number) => V | undefined) | undefined> {
  let deadlineAt: number | undefined;
  for (let tries = 0; ; tries++) {
    const reply = await callBounded(client, request());
    if (reply.call) trial.calls.push(reply.call);
    if (reply.code === "ok") return at => reply.value.get(`${prefix}${at + 1}`);
    deadlineAt ??= clock.now() + patienceMs;
    const outcome = withRetry(reply, { ...nobody, deadlineAt, tries }, clock);
    const reason = reasonText(reply.detail);
    if (!isWaiting(outcome)) {
      if (!trial.faults.includes(reason)) trial.faults.push(reason);
      return undefined;
    }
    onWait?.(reason);
    await clock.sleep(outcome.retryAt - clock.now());
  }
}

const nobody = { agentId: "", traceId: null, runId: null };

/** Runs one after the other, to measure whether later answers differ. */
async function repeated<T>(times: number, ask: () => Promise<T>): Promise<T[]> {
  const answers: T[] = [];
  for (let count = 0; count < times; count += 1) answers.push(await ask());
  return answers;
}
