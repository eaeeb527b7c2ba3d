// Builds what is sent to the judge: what the service and its users wrote as instructions, what a trace brought as marked material.
import type { ClassifyAsk, QuoteHint, RouteAsk, SemanticAsk } from "../../model/judge/call.ts";
import { type Material, quotableItem } from "../../model/judge/material.ts";
import { type Bounded, bounded, condensed, promptBounds, quotable } from "../../model/judge/prompt-bounds.ts";
import { shorten } from "../../model/shorten.ts";
import {
  type Canary,
  type CanaryKind,
  type ClassCanary,
  classCanaries,
  criterionCanaries,
  drawFrom,
  scenarioCanaries,
} from "./canaries.ts";
import {
  closing,
  echoOf,
  enclosed,
  instructed,
  mixed,
  oneLine,
  opening,
  type Prompt,
} from "./prompt-frame.ts";
import { conversationIn, earlierIn, marked, signFor, textsOf, withoutSigns } from "./prompt-material.ts";
import { classifyTask, examples, routingTask, semanticTask } from "./prompt-texts.ts";

export type { Echo, Prompt } from "./prompt-frame.ts";

/** Raised whenever anything here, or the reading of answers, changes what a model may answer or what becomes of it. */
export const promptVersion = "7";

/**
 * An estimate: a token for every four bytes, so that a letter of another script weighs more, and one and a half for each sign,
 * with the line break before it.
 */
export function tokensOf({ instructions, material }: Pick<Prompt, "instructions" | "material">): number {
  const { plain, signs } = withoutSigns(material);
  return tokensOfText(instructions + plain) + Math.ceil(signs * 1.5);
}

export function tokensOfText(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4);
}

/** An estimate of the tokens of one label, verdict or class, reasons and quotations included. */
export const answerTokens = { route: 40, semantic: 140, classify: 12 };

/** A question as the model knows it: `id` is the asker's; null for a canary, whose answer must be `canary`. */
export type Posed<C = CanaryKind> = { id: string } | { id: null; canary: C };

export type RoutingPrompt = Prompt & { posed: Map<string, Posed> };

/** Asks which scenarios the user's input matches. `marker`: 24 hex digits, unguessable and new for every call. */
export function routingPrompt(
  { userInput, earlier, scenarios, redacted }: RouteAsk,
  marker: string,
): RoutingPrompt {
  const before = (earlier?.messages ?? []).map(({ text }) => quotable(text));
  const sign = signFor(marker, [userInput, ...before]);
  const draw = drawFrom(marker);
  const input = bounded(userInput, promptBounds.userInput);
  const canaries = scenarioCanaries(quotable(input).replaceAll(sign, ""), before, draw).map(canary => ({
    canary,
    scenario: canary.text,
  }));
  const all = mixed<{ scenario: string } & ({ id: string; canary?: never } | { canary: Canary })>(
    scenarios,
    canaries,
    draw,
  );
  const posed = new Map<string, Posed>();
  const listed = all.map((asked, index) => {
    const id = `s${index + 1}`;
    posed.set(id, asked.canary ? { id: null, canary: asked.canary.kind } : { id: asked.id });
    return [id, bounded(asked.scenario, promptBounds.scenario)];
  });
  const echo = echoOf(draw);
  return {
    instructions: instructed(routingTask, Object.fromEntries(listed), { marker, sign, redacted }),
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
  /** Begins every line of the material. */
  sign: string;
};

/**
 * Asks for one anchored verdict per criterion; code makes the score. Two more criteria, one that the reply meets and one that
 * it does not, look like the others. Throws if a criterion names no reply of the question.
 */
export function semanticPrompt(
  { userInput, material, time, replies, criteria, redacted }: SemanticAsk,
  marker: string,
): SemanticPrompt {
  const around = textsOf(material);
  const sign = signFor(marker, [userInput ?? "", ...replies.map(({ text }) => text), ...around]);
  const draw = drawFrom(marker);
  const input = userInput === null ? null : bounded(userInput, promptBounds.userInput);
  const cut = replies.map(({ id, part, text }) => ({ id, part, text: bounded(text, promptBounds.reply) }));
  const shown = new Map(cut.map(({ id, text }) => [id, quotable(text).replaceAll(sign, "")]));
  // Both canaries take reply, scenario and reference of one of the criteria.
  const host = criteria[draw(criteria.length)]!;
  const canaries = criterionCanaries(replyOf(host), around, draw).map(canary => ({
    ...{ ...host, criterion: canary.text, canary },
  }));
  const all = mixed<Criterion & { canary?: Canary }>(criteria, canaries, draw);
  const groups = [...Map.groupBy(all, groupOf).values()];
  const { own, others } = quotables(input, material, sign);
  const posed = new Map<string, PosedCriterion>();
  const again: [id: string, criterion: string][] = [];
  const pose = ({ canary, ...asked }: (typeof all)[number]) => {
    const id = `c${posed.size + 1}`;
    const { reference, criterion } = asked;
    const quoted = {
      reply: replyOf(asked),
      own,
      others: reference === undefined ? others : [...others, referenceOf(reference)],
    };
    posed.set(id, canary ? { id: null, canary: canary.kind, ...quoted } : { id: asked.id, ...quoted });
    again.push([id, shorten(criterion, promptBounds.criterionAgain)]);
    return [id, bounded(criterion, promptBounds.criterion)];
  };
  const listed = groups.map(group => ({
    ...situationOf(group[0]!),
    criteria: Object.fromEntries(group.map(pose)),
  }));
  const echo = echoOf(draw);
  return {
    instructions: instructed(
      semanticConstant,
      { situations: listed },
      { marker, sign, redacted, toolResults: material?.toolResults },
    ),
    material: enclosed(
      marker,
      {
        ...(time === undefined ? {} : { time }),
        user_input: input === null ? null : marked(input, sign),
        conversation: conversationIn(material, replies[0]!.id, sign),
        replies: cut.map(({ id, part, text }) => ({
          id,
          ...(part ? { part: `${part.at} of ${part.of}` } : {}),
          text: marked(text, sign),
        })),
      },
      // After a long material, models remember what stands close.
      `The criteria again: ${oneLine(Object.fromEntries(again))}\nGive one verdict for each of the ${again.length}.`,
      echo,
    ),
    echo,
    posed,
    sign,
  };

  function replyOf({ id, replyId }: Criterion): string {
    const reply = shown.get(replyId);
    if (reply === undefined) throw new Error(`No reply ${replyId} to judge by criterion ${id}`);
    return reply;
  }
}

const semanticConstant = `${semanticTask}\n${examples.map(oneLine).join("\n")}\n\nThe situations, each with its criteria by id:`;

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

export type ClassifyPrompt = Prompt & { posed: Map<string, Posed<ClassCanary["restsOn"]>> };

/** Asks what decides each criterion, and two more that are known; nothing of a trace is in it. */
export function classifyPrompt({ criteria }: ClassifyAsk, marker: string): ClassifyPrompt {
  const draw = drawFrom(marker);
  const canaries = classCanaries(draw).map(canary => ({ criterion: canary.text, canary }));
  const all = mixed<{ criterion: string } & ({ id: string; canary?: never } | { canary: ClassCanary })>(
    criteria,
    canaries,
    draw,
  );
  const posed: ClassifyPrompt["posed"] = new Map();
  const listed = all.map((asked, index) => {
    const id = `c${index + 1}`;
    posed.set(id, asked.canary ? { id: null, canary: asked.canary.restsOn } : { id: asked.id });
    return [id, bounded(asked.criterion, promptBounds.criterion)];
  });
  const echo = echoOf(draw);
  return {
    instructions: `${opening}\n\n${classifyTask}\n${oneLine(Object.fromEntries(listed))}`,
    material: closing(`Classify each of the ${listed.length} criteria of your instructions once.`, echo),
    echo,
    posed,
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

type Criterion = SemanticAsk["criteria"][number];

/** Criteria of one test share these, so each is listed once. */
function situationOf({ scenario, reference, replyId }: Criterion): object {
  return {
    scenario: bounded(scenario, promptBounds.scenario),
    ...(reference === undefined ? {} : { reference_reply: bounded(reference, promptBounds.reference) }),
    reply: replyId,
  };
}

function groupOf({ scenario, reference, replyId }: Criterion): string {
  return JSON.stringify([scenario, reference, replyId]);
}
