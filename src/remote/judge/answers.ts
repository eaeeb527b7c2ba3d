// Parses and validates the judge's answers: the echo of the prompt, the canaries, labels, verdicts and their quotations.
import { z } from "zod";
import {
  type Classes,
  type CriterionClass,
  type GivenVerdict,
  type QuoteHint,
  type RestsOn,
  type RouteLabels,
  restsOnWords,
  type Verdicts,
} from "../../model/judge/call.ts";
import { type JudgeOutcome, type Unanswered, unanswered } from "../../model/judge/outcome.ts";
import { isWholeText, quotes, words, wordsShown } from "../../model/judge/quotations.ts";
import type { JudgeReasonData } from "../../model/judge/reason.ts";
import { oncePerText } from "../../model/once-per-text.ts";
import { shorten } from "../../model/shorten.ts";
import { hasWord, stripInvisible } from "../../model/strip-invisible.ts";
import { beginningOf } from "../foreign-text.ts";
import type { CanaryKind } from "./canaries.ts";
import { hasContentWord } from "./content-words.ts";
import type { ClassifyPrompt, Echo, Posed, PosedCriterion, Quotable } from "./prompts.ts";

const sentence = z.string().refine(hasWord);

const label = z.strictObject({
  id: z.string(),
  why: sentence,
  label: z.enum(["match", "unsure", "no_match"]),
});

const verdictWords = ["met", "mostly", "partly", "not_met", "not_applicable", "cannot_tell"] as const;

const verdict = z.strictObject({
  id: z.string(),
  evidence: z.string(),
  evidence_in: z.string(),
  compared_with: z.string(),
  compared_in: z.string(),
  reason: sentence,
  verdict: z.enum(verdictWords),
});

// Of a model that leaves empty fields out, the rest counts.
const passage = z.string().default("");
const readVerdict = verdict.extend({ evidence_in: passage, compared_with: passage, compared_in: passage });

const classWords = [...restsOnWords, "unsure"] as const;

const classified = z.strictObject({
  id: z.string(),
  rests_on: z.enum(classWords),
  conditional: z.enum(["yes", "no", "unsure"]),
});
const readClassified = classified.extend({ conditional: classified.shape.conditional.default("unsure") });

const envelope = <T extends z.ZodRawShape>(entries: T) =>
  z.strictObject({ first_word: z.string(), ...entries, last_word: z.string() });

/** The schema of each kind of answer. Flat, all fields required, no bounds: every structured-output mode supports this. */
export const answerSchemas = {
  route: envelope({ labels: z.array(label) }),
  semantic: envelope({ verdicts: z.array(verdict) }),
  classify: envelope({ classes: z.array(classified) }),
};

/** The text of an answer; `tokens`: of the prompt, as the server counted them (0: not at all) and as estimated. */
export type GivenAnswer = { text: string; tokens: { counted: number; estimated: number } };

/**
 * The labels by the ids of the request. Malformed entries, unknown ids and ids with contradicting labels are left out; a
 * missing id is asked for again. Without labels for both canaries, none is returned; if one is wrong, the
 * answer is unusable.
 */
export function readLabels(
  answer: GivenAnswer,
  posed: ReadonlyMap<string, Posed>,
  echo: Echo,
): JudgeOutcome<RouteLabels> {
  const read = entriesOf(answer, "labels", echo);
  if ("code" in read) return read;
  const fault = canaryFault(read.entries, posed, wrongLabel);
  if (fault) return fault;
  const valid = validEntries(read.entries, label, [...posed.keys()], entry => entry.label);
  const value: RouteLabels = new Map();
  if (!isWhole(valid, posed)) return { code: "ok", value };
  for (const [posedId, { label, why }] of valid) {
    const { id } = posed.get(posedId)!;
    if (id !== null) value.set(id, { label, reason: shortened(why) });
  }
  return { code: "ok", value };
}

/** The verdicts by the ids of the request, left out as labels are, and whether each quotation was found. */
export function readVerdicts(
  answer: GivenAnswer,
  posed: ReadonlyMap<string, PosedCriterion>,
  { echo, sign }: { echo: Echo; sign: string },
): JudgeOutcome<Verdicts> {
  const read = entriesOf(answer, "verdicts", echo);
  if ("code" in read) return read;
  const fault = canaryFault(read.entries, posed, wrongVerdict);
  if (fault) return fault;
  const valid = validEntries(read.entries, readVerdict, [...posed.keys()], entry => entry.verdict);
  const value: Verdicts = new Map();
  if (!isWhole(valid, posed)) return { code: "ok", value };
  const wordsOf = oncePerText(wordsShown);
  for (const [posedId, given] of valid) {
    const { id, ...material } = posed.get(posedId)!;
    if (id === null) continue;
    const evidence = given.evidence.replaceAll(sign, "");
    const comparedWith = given.compared_with.replaceAll(sign, "");
    const evidenceHint = hintOf(given.evidence_in);
    value.set(id, {
      verdict: given.verdict,
      evidence: shortened(evidence, 600),
      reason: shortened(given.reason),
      quotation: quotationOf(evidence, evidenceHint, material, wordsOf),
      comparedWith: shortened(comparedWith, 600),
      comparison: comparisonOf(comparedWith, material, wordsOf),
      evidenceHint,
      comparisonHint: hintOf(given.compared_in),
    });
  }
  return { code: "ok", value };
}

const classOf = ({ rests_on, conditional }: z.output<typeof readClassified>): CriterionClass => ({
  restsOn: rests_on === "unsure" ? null : rests_on,
  conditional: conditional === "yes",
});

/** The classes by the ids of the request, left out as labels are. */
export function readClasses(
  answer: GivenAnswer,
  posed: ClassifyPrompt["posed"],
  echo: Echo,
): JudgeOutcome<Classes> {
  const read = entriesOf(answer, "classes", echo);
  if ("code" in read) return read;
  const fault = canaryFault(read.entries, posed, wrongClass);
  if (fault) return fault;
  const valid = validEntries(
    read.entries,
    readClassified,
    [...posed.keys()],
    ({ rests_on, conditional }) => `${rests_on} ${conditional}`,
  );
  const value: Classes = new Map();
  if (!isWhole(valid, posed)) return { code: "ok", value };
  for (const [posedId, entry] of valid) {
    const { id } = posed.get(posedId)!;
    if (id !== null) value.set(id, classOf(entry));
  }
  return { code: "ok", value };
}

/** The entries of an answer that repeats both words of the prompt. */
function entriesOf(
  { text, tokens: { counted, estimated } }: GivenAnswer,
  name: string,
  echo: Echo,
): { entries: unknown[] } | Unanswered {
  const shape = z.strictObject({
    first_word: z.string().default(""),
    [name]: z.array(z.unknown()),
    last_word: z.string().default(""),
  });
  const { data } = shape.safeParse(jsonIn(text));
  if (!data) return unanswered("unusable", { code: "judge_answer_malformed" });
  const isFirst = words(data.first_word as string) === echo.first;
  const isLast = words(data.last_word as string) === echo.last;
  if (isFirst && isLast) return { entries: data[name] as unknown[] };
  // A server that cuts a prompt to its context keeps the end of it.
  const isCut = !isFirst && (isLast || (counted > 0 && counted < estimated / 2));
  return unanswered("unusable", {
    code: isCut ? "judge_context_too_small" : "judge_echo_wrong",
  });
}

const worded = z.object({
  id: z.string(),
  label: z.string().optional(),
  verdict: z.string().optional(),
  rests_on: z.string().optional(),
});

type Wrong = JudgeReasonData["judge_integrity_failed"]["wrong"];

/** Reads the canaries' entries even if the rest of them is malformed. `wrongOf`: undefined if the word is right. */
function canaryFault<C>(
  entries: unknown[],
  posed: ReadonlyMap<string, Posed<C>>,
  wrongOf: (known: C, word: string) => Wrong | undefined,
): Unanswered | undefined {
  for (const entry of entries) {
    const { data } = worded.safeParse(entry);
    const asked = data && posed.get(data.id);
    if (!asked || asked.id !== null) continue;
    const wrong = wrongOf(asked.canary, data.verdict ?? data.label ?? data.rests_on ?? "");
    if (wrong) return unanswered("unusable", { code: "judge_integrity_failed", data: { wrong } });
  }
  return undefined;
}

// A judge that is unsure of a scenario is only careful: the test runs.
function wrongLabel(kind: CanaryKind, label: string): Wrong | undefined {
  return label === (kind === "always" ? "no_match" : "match") ? kind : undefined;
}

/** Whether a reply has a word can be told, so "cannot_tell" is wrong, too. */
function wrongVerdict(kind: CanaryKind, verdict: string): Wrong | undefined {
  const right = { always: ["met", "mostly"], never: ["not_met"] }[kind];
  return !right.includes(verdict) && verdictWords.some(one => one === verdict) ? kind : undefined;
}

function wrongClass(known: RestsOn, word: string): Wrong | undefined {
  return word !== known && classWords.some(one => one === word) ? "class" : undefined;
}

/** Whether the canaries were answered. */
function isWhole(valid: ReadonlyMap<string, unknown>, posed: ReadonlyMap<string, Posed<unknown>>): boolean {
  return [...posed].every(([posedId, { id }]) => id !== null || valid.has(posedId));
}

/** By id: well-formed, asked for, and not contradicted by another entry with the same id. */
function validEntries<T extends { id: string }>(
  entries: unknown[],
  shape: z.ZodType<T>,
  asked: readonly string[],
  wordOf: (entry: T) => string,
): Map<string, T> {
  const valid = new Map<string, T>();
  const contradicted = new Set<string>();
  for (const entry of entries) {
    const { data } = shape.safeParse(entry);
    if (!data || !asked.includes(data.id)) continue;
    const earlier = valid.get(data.id);
    if (earlier && wordOf(earlier) !== wordOf(data)) contradicted.add(data.id);
    if (!earlier) valid.set(data.id, data);
  }
  for (const id of contradicted) valid.delete(id);
  return valid;
}

type Shown = Pick<PosedCriterion, "reply" | "own" | "others">;

/** Evidence that is said to be in the reply is not found in what else the agent said or did. */
function quotationOf(
  evidence: string,
  hint: QuoteHint | null,
  { reply, own, others }: Shown,
  wordsOf: (text: string) => string,
): GivenVerdict["quotation"] {
  if (words(evidence) === "") return "empty";
  const isIn = (text: string) => quotes(wordsOf(text), evidence);
  const isInAny = (texts: Quotable[]) => texts.some(({ text }) => isIn(text));
  if (isIn(reply) || (hint !== "reply" && isInAny(own))) {
    // A reply without any, such as "Yes, it is", is quoted as a whole.
    return hasContentWord(words(evidence)) || isWholeText(wordsOf(reply), evidence) ? "found" : "trivial";
  }
  return isInAny([...own, ...others]) ? "elsewhere" : "invented";
}

function comparisonOf(
  passage: string,
  { reply, own, others }: Shown,
  wordsOf: (text: string) => string,
): GivenVerdict["comparison"] {
  if (words(passage) === "") return "empty";
  if (![reply, ...[...own, ...others].map(({ text }) => text)].some(text => quotes(wordsOf(text), passage))) {
    return "invented";
  }
  return hasContentWord(words(passage)) ? "found" : "trivial";
}

/** What an id in an answer names; null if nothing has it. */
function hintOf(id: string): QuoteHint | null {
  if (id === "user_input" || id === "reference") return id;
  const [, kind, number] = /^([mr])([1-9]\d{0,3})$/.exec(id) ?? [];
  if (kind === undefined) return null;
  return kind === "r" ? "reply" : Number(number) - 1;
}

/**
 * The JSON of an answer: the whole text, the text after <think>, or the one fenced block at its end. JSON elsewhere is
 * ignored: it may be quoted from the material.
 */
function jsonIn(text: string): unknown {
  const answer = text.replace(/^\s*<think>[\s\S]*?<\/think>/, "").trim();
  const [, fenced, ...more] = answer.split(/```(?:json)?[ \t]*(?:\r?\n|$)/i);
  const candidate = more.length === 1 && more[0] === "" ? fenced! : answer;
  try {
    return JSON.parse(candidate);
  } catch {
    return undefined;
  }
}

function shortened(text: string, max = 300): string {
  return shorten(stripInvisible(beginningOf(text)).replace(/\s+/g, " ").trim(), max);
}
