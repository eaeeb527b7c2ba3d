// Builds what is sent to the judge: what the service and its users wrote as instructions, what a trace brought as marked material.
import type { ClassifyAsk, QuoteHint, RouteAsk, SemanticAsk } from "../../model/judge/call.ts";
import { type Material, quotableItem } from "../../model/judge/material.ts";
import { type Bounded, bounded, condensed, promptBounds, quotable } from "../../model/judge/prompt-bounds.ts";
import { type CanaryKind, criterionCanaries, type Draw, drawFrom, scenarioCanaries } from "./canaries.ts";
import { conversationIn, earlierIn, marked, signFor, textsOf } from "./prompt-material.ts";
import {
  classifyTask,
  examples,
  noResultsNote,
  redactedNote,
  routingTask,
  semanticTask,
} from "./prompt-texts.ts";

/** Raised whenever anything here, or the reading of answers, changes what a model may answer or what becomes of it. */
export const promptVersion = "6";

/**
 * One call: `material` is the only part that holds text from a trace. `echo`: the words at the beginning and the end of
 * the prompt, which every answer repeats; a server that cuts a prompt to its context loses the first.
 */
export type Prompt = { instructions: string; material: string; echo: Echo };

/** `first` is that of the prompt's version, so that providers can cache the beginning; `last` is drawn for each call. */
export type Echo = { first: string; last: string };

/** An estimate, at four bytes a token, so that a sign and a letter of another script weigh more. */
export function tokensOf({ instructions, material }: Pick<Prompt, "instructions" | "material">): number {
  return tokensOfText(instructions + material);
}

export function tokensOfText(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4);
}

/** An estimate of the tokens of one label, verdict or class, reasons and quotations included. */
export const answerTokens = { route: 40, semantic: 140, classify: 12 };

/** A question as the model knows it: `id` is the asker's; null for a canary, whose answer must be `canary`. */
export type Posed = { id: string } | { id: null; canary: CanaryKind };

export type RoutingPrompt = Prompt & { posed: Map<string, Posed> };

/** Asks which scenarios the user's input matches. `marker`: 24 hex digits, unguessable and new for every call. */
export function routingPrompt(
  { userInput, earlier, scenarios, redacted }: RouteAsk,
  marker: string,
): RoutingPrompt {
  const texts = [userInput, ...(earlier?.messages ?? []).map(({ text }) => quotable(text))];
  const sign = signFor(marker, texts);
  const draw = drawFrom(marker);
  const input = bounded(userInput, promptBounds.userInput);
  const canaries = scenarioCanaries(texts, draw).map(canary => ({ canary, scenario: canary.text }));
  const all = mixed<{ scenario: string } & ({ id: string; canary?: never } | { canary: Canary })>(
    scenarios,
    canaries,
    draw,
  );
  const posed = new Map<string, Posed>();
  const listed = all.map((asked, index) => {
    const id = `s${index + 1}`;
    posed.set(id, asked.canary ? { id: null, canary: asked.canary.kind } : { id: asked.id });
    return { id, scenario: bounded(asked.scenario, promptBounds.scenario) };
  });
  const echo = echoOf(draw);
  return {
    instructions: instructed(routingTask, [], listed, { marker, sign, redacted }),
    material: enclosed(
      marker,
      { ...(earlier ? { earlier: earlierIn(earlier, sign) } : {}), user_input: marked(input, sign) },
      `Label each of the ${listed.length} scenarios of your instructions once.`,
      echo,
    ),
    echo,
    posed,
  };
}

/** A text that the judge was shown, by the name that its hints give it. */
export type Quotable = { hint: QuoteHint; text: string };

/**
 * What a verdict can quote: the reply as far as it is shown, what else the agent said and did (`own`), and everything else
 * (`others`), the reference reply included.
 */
export type PosedCriterion = Posed & { reply: string; own: Quotable[]; others: Quotable[] };

export type SemanticPrompt = Prompt & {
  /** By the ids in the prompt. */
  posed: Map<string, PosedCriterion>;
  /** Precedes every word of the material. */
  sign: string;
};

/**
 * Asks for one anchored verdict per criterion; code makes the score. Two more criteria, one that every reply meets and
 * one that none does, look like the others. Throws if a criterion names no reply of the question.
 */
export function semanticPrompt(
  { userInput, material, replies, criteria, redacted }: SemanticAsk,
  marker: string,
): SemanticPrompt {
  const around = textsOf(material);
  const sign = signFor(marker, [userInput ?? "", ...replies.map(({ text }) => text), ...around]);
  const draw = drawFrom(marker);
  const input = userInput === null ? null : bounded(userInput, promptBounds.userInput);
  const cut = replies.map(({ id, part, text }) => ({ id, part, text: bounded(text, promptBounds.reply) }));
  const plain = (shown: Bounded) => quotable(shown).replaceAll(sign, "");
  const shown = new Map(cut.map(({ id, text }) => [id, plain(text)]));
  // Each canary takes reply, scenario and reference of one of the criteria.
  const canaries = criterionCanaries([...shown.values(), ...around], draw).map(canary => ({
    ...criteria[draw(criteria.length)]!,
    criterion: canary.text,
    canary,
  }));
  const all = mixed<Criterion & { canary?: Canary }>(criteria, canaries, draw);
  const situations = situationsOf(criteria);
  const { own, others } = quotables(input, material, sign);
  const posed = new Map<string, PosedCriterion>();
  const listed = all.map(({ canary, ...asked }, index) => {
    const id = `c${index + 1}`;
    const reply = shown.get(asked.replyId);
    if (reply === undefined) throw new Error(`No reply ${asked.replyId} to judge by criterion ${asked.id}`);
    const { reference } = asked;
    const quoted = {
      reply,
      own,
      others: reference === undefined ? others : [...others, referenceOf(reference)],
    };
    posed.set(id, canary ? { id: null, canary: canary.kind, ...quoted } : { id: asked.id, ...quoted });
    const criterion = bounded(asked.criterion, promptBounds.criterion);
    return { id, situation: situations.idOf(asked), reply: asked.replyId, criterion };
  });
  const echo = echoOf(draw);
  return {
    instructions: instructed(
      semanticTask,
      mixed<object>([], examples, draw),
      { situations: situations.listed, criteria: listed },
      { marker, sign, redacted, toolResults: material?.toolResults },
    ),
    material: enclosed(
      marker,
      {
        user_input: input === null ? null : marked(input, sign),
        conversation: conversationIn(material, replies[0]!.id, sign),
        replies: cut.map(({ id, part, text }) => ({
          id,
          ...(part ? { part: `${part.at} of ${part.of}` } : {}),
          text: marked(text, sign),
        })),
      },
      `Give one verdict for each of the ${listed.length} criteria of your instructions.`,
      echo,
    ),
    echo,
    posed,
    sign,
  };
}

function quotables(input: Bounded | null, material: Material | undefined, sign: string) {
  const items = (material?.items ?? []).map((item, at) => ({ ...item, at }));
  const shownOf = (isOwn: boolean): Quotable[] =>
    items
      .filter(({ kind, is }) => !is && (kind === "assistant" || kind === "tool_call") === isOwn)
      .map(item => ({ hint: item.at, text: quotableItem(item).replaceAll(sign, "") }));
  const typed: Quotable[] =
    input === null ? [] : [{ hint: "user_input", text: quotable(input).replaceAll(sign, "") }];
  return { own: shownOf(true), others: [...typed, ...shownOf(false)] };
}

function referenceOf(reference: string): Quotable {
  return { hint: "reference", text: quotable(bounded(reference, promptBounds.reference)) };
}

/** Asks what decides each criterion; nothing of a trace is in it. */
export function classifyPrompt({ criteria }: ClassifyAsk, marker: string): Prompt {
  const echo = echoOf(drawFrom(marker));
  const listed = criteria.map(({ id, criterion }) => ({
    id,
    criterion: bounded(criterion, promptBounds.criterion),
  }));
  return {
    instructions: `${opening}\n\n${classifyTask}\n${oneLine(listed)}`,
    material: closing(`Classify each of the ${listed.length} criteria of your instructions once.`, echo),
    echo,
  };
}

/**
 * The parts in which a reply is judged: one, unless it is longer than the judge is shown at once. Undefined if it is too
 * long for `replyParts` parts.
 */
export function replyParts(reply: string): string[] | undefined {
  const { reply: max, replyOverlap, replyParts } = promptBounds;
  const text = condensed(reply, max);
  if (text.length <= max) return [reply];
  const parts: string[] = [];
  for (let from = 0; from < text.length; ) {
    if (parts.length === replyParts) return undefined;
    const limit = from + max;
    // Between words if there are any near the limit.
    const space = limit < text.length ? text.lastIndexOf(" ", limit) : -1;
    const end = space > limit - replyOverlap / 2 ? space : betweenCharacters(text, limit);
    parts.push(text.slice(from, end));
    if (end >= text.length) break;
    from = betweenCharacters(text, end - replyOverlap);
  }
  return parts;
}

function betweenCharacters(text: string, at: number): number {
  return /[\udc00-\udfff]/.test(text.charAt(at)) ? at - 1 : at;
}

type Canary = { kind: CanaryKind; text: string };

/** In random order. */
function mixed<T>(items: readonly T[], more: readonly T[], draw: Draw): T[] {
  const all = [...items];
  for (const item of more) all.splice(draw(all.length + 1), 0, item);
  return all;
}

type Criterion = SemanticAsk["criteria"][number];

/** Each pair of scenario and reference once, since criteria of one test share them. */
function situationsOf(criteria: Criterion[]) {
  const keyOf = ({ scenario, reference }: Criterion) => JSON.stringify([scenario, reference]);
  const ids = new Map<string, string>();
  const listed: object[] = [];
  for (const criterion of criteria) {
    if (ids.has(keyOf(criterion))) continue;
    const id = `t${ids.size + 1}`;
    ids.set(keyOf(criterion), id);
    const { scenario, reference } = criterion;
    listed.push({
      id,
      scenario: bounded(scenario, promptBounds.scenario),
      ...(reference === undefined ? {} : { reference_reply: bounded(reference, promptBounds.reference) }),
    });
  }
  return { listed, idOf: (criterion: Criterion) => ids.get(keyOf(criterion))! };
}

const firstWord = "tamarind";
const opening = `The first word is "${firstWord}". Every answer repeats it as "first_word".`;

const lastWords =
  "acorn anchor apricot badger bamboo beacon birch bramble candle canyon cedar cobalt comet copper coral cricket dahlia ember falcon fennel garnet ginger glacier hazel heron indigo ivory jasper juniper kestrel lantern lilac linden magnet maple marble meadow nectar nutmeg oasis olive onyx orchid otter pebble pepper pigeon plum poplar quartz raven saffron sequoia sparrow spruce summit thistle timber topaz tulip velvet walnut willow zephyr".split(
    " ",
  );

function echoOf(draw: Draw): Echo {
  return { first: firstWord, last: lastWords[draw(lastWords.length)]! };
}

type Marks = {
  marker: string;
  sign: string;
  redacted: string[] | undefined;
  toolResults?: false | undefined;
};

// What is the same in every call comes first: providers bill the beginning that they have seen before at less.
function instructed(
  task: string,
  examples: object[],
  asked: object,
  { marker, sign, redacted, toolResults }: Marks,
): string {
  const shown =
    examples.length === 0
      ? ""
      : `\n${examples.map(oneLine).join("\n")}\n\nThe situations and the criteria, by id:`;
  const note = `${redacted ? ` ${redactedNote(redacted)}` : ""}${toolResults === false ? ` ${noResultsNote}` : ""}`;
  return `${opening}\n\n${task}${shown}\n${oneLine(asked)}\n\nThe mark is ${marker}, the sign is ${sign}.${note}`;
}

function enclosed(marker: string, material: object, task: string, echo: Echo): string {
  const lines = [`MATERIAL ${marker}`, oneLine(material), `END OF MATERIAL ${marker}`, closing(task, echo)];
  return lines.join("\n");
}

function closing(task: string, { last }: Echo): string {
  return `${task} Answer with the JSON object only. The last word, to be repeated as "last_word", is "${last}".`;
}

// Angle brackets are escaped too, so that no model's own control tokens (<|im_start|>) can be spelt in the material.
function oneLine(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>\u2028\u2029]/g,
    character => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
