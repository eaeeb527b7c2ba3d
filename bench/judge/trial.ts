// Puts labelled sets to an open connection, as runs do but without a cache, and keeps every answer beside its label.
import { suspicionOf } from "../../src/evaluate/suspicion.ts";
import type { RouteLabel, VerdictWord } from "../../src/model/judge.ts";
import {
  type JudgeCall,
  type JudgeLine,
  type LineReply,
  scenariosPerCall,
} from "../../src/model/judge-call.ts";
import type { CriterionPair, RoutePair } from "./figures.ts";
import type { Attack, RoutingSet, SemanticSet, Sets } from "./sets.ts";

export type Trial = {
  routes: RoutePair[];
  criteria: CriterionPair[];
  calls: JudgeCall[];
  /** Sentences, each once, of calls that came to nothing. */
  faults: string[];
};

export type TrialOptions = {
  /** How often each question is put without an attack. */
  repeats: number;
  onProgress?: (done: number, of: number) => void;
};

/** Resolves when everything was asked; how many calls run at a time is the line's to say. */
export async function tryOut(
  line: JudgeLine,
  sets: Sets,
  { repeats, onProgress }: TrialOptions,
): Promise<Trial> {
  const trial: Trial = { routes: [], criteria: [], calls: [], faults: [] };
  const asker = { line, trial, repeats };
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

type Asker = { line: JudgeLine; trial: Trial; repeats: number };

const attacksOn = (on: Attack["on"], { attacks }: Sets) => attacks.filter(attack => attack.on === on);

async function tryInput(
  asker: Asker,
  { scenarios }: RoutingSet,
  { text, relevant, near, either, tags }: RoutingSet["inputs"][number],
  attack: Attack | undefined,
): Promise<void> {
  const asked = Object.entries(scenarios).filter(([key]) => !either.includes(key));
  const repeats = await repeated(asker.repeats, () => labelsOf(asker, text, asked));
  const attacked = attack && (await labelsOf(asker, `${text}\n${attack.text}`, asked));
  for (const [key] of asked) {
    asker.trial.routes.push({
      expected: relevant.includes(key) ? "relevant" : near.includes(key) ? "near" : "far",
      tags,
      labels: repeats.map(labels => labels.get(key) ?? null),
      ...(attacked ? { attacked: attacked.get(key) ?? null } : {}),
    });
  }
}

/** By the scenarios' keys; those missing from an answer are asked for once more, as runs do. */
async function labelsOf(
  { line, trial }: Asker,
  userInput: string,
  asked: [key: string, scenario: string][],
): Promise<Map<string, RouteLabel>> {
  const found = new Map<string, RouteLabel>();
  const isSuspicious = suspicionOf(userInput) !== undefined;
  for (let open = asked, tries = 0; open.length > 0 && tries < 2; tries += 1) {
    for (let at = 0; at < open.length; at += scenariosPerCall) {
      const part = open.slice(at, at + scenariosPerCall);
      const scenarios = part.map(([, scenario], index) => ({ id: `s${index + 1}`, scenario }));
      const labels = soundly(trial, await line.route({ userInput, scenarios }));
      for (const [index, [key]] of part.entries()) {
        const label = labels?.get(`s${index + 1}`)?.label;
        if (label) found.set(key, isSuspicious && label === "no_match" ? "unsure" : label);
      }
    }
    open = open.filter(([key]) => !found.has(key));
  }
  return found;
}

async function tryCase(
  asker: Asker,
  one: SemanticSet["cases"][number],
  attack: Attack | undefined,
): Promise<void> {
  const repeats = await repeated(asker.repeats, () => verdictsOf(asker, one, one.reply));
  const attacked = attack && (await verdictsOf(asker, one, `${one.reply}\n${attack.text}`));
  for (const [at, { met }] of one.criteria.entries()) {
    asker.trial.criteria.push({
      met,
      tags: one.tags,
      verdicts: repeats.map(verdicts => verdicts[at] ?? null),
      ...(attacked ? { attacked: attacked[at] ?? null } : {}),
    });
  }
}

async function verdictsOf(
  { line, trial }: Asker,
  { scenario, input, reference, criteria }: SemanticSet["cases"][number],
  reply: string,
): Promise<(VerdictWord | undefined)[]> {
  const verdicts = soundly(
    trial,
    await line.judge({
      userInput: input,
      replies: [{ id: "r1", text: reply }],
      criteria: criteria.map(({ criterion }, at) => ({
        id: `c${at + 1}`,
        replyId: "r1",
        scenario,
        criterion,
        ...(reference === undefined ? {} : { reference }),
      })),
    }),
  );
  return criteria.map((_, at) => verdicts?.get(`c${at + 1}`)?.verdict);
}

function soundly<T>(trial: Trial, reply: LineReply<T>): T | undefined {
  if (reply.call) trial.calls.push(reply.call);
  if (reply.state === "ok") return reply.value;
  if (!trial.faults.includes(reply.reason)) trial.faults.push(reply.reason);
  return undefined;
}

/** One after the other: what is measured is whether a later answer differs. */
async function repeated<T>(times: number, ask: () => Promise<T>): Promise<T[]> {
  const answers: T[] = [];
  for (let count = 0; count < times; count += 1) answers.push(await ask());
  return answers;
}
