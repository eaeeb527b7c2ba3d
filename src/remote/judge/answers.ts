// Parses and validates the judge's answers: the echo of the prompt, the canaries, labels, verdicts and their quotations.
import { z } from "zod";
import {
  type Classes,
  type GivenVerdict,
  type RouteLabels,
  restsOnWords,
  type Verdicts,
} from "../../model/judge/call.ts";
import { type JudgeOutcome, type Unanswered, unanswered } from "../../model/judge/outcome.ts";
import { gap } from "../../model/judge/prompt-bounds.ts";
import { hasWord, stripInvisible } from "../../model/strip-invisible.ts";
import type { CanaryKind } from "./canaries.ts";
import { hasContentWord } from "./content-words.ts";
import type { Echo, Posed, PosedCriterion } from "./prompts.ts";

const sentence = z.string().refine(hasWord);

const label = z.strictObject({
  id: z.string(),
  why: sentence,
  label: z.enum(["match", "unsure", "no_match"]),
});

const verdict = z.strictObject({
  id: z.string(),
  evidence: z.string(),
  reason: sentence,
  verdict: z.enum(["met", "mostly", "partly", "not_met", "not_applicable", "cannot_tell"]),
});

const classified = z.strictObject({
  id: z.string(),
  rests_on: z.enum([...restsOnWords, "unsure"]),
});

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
  const fault = canaryFault(read.entries, posed, isWrongLabel);
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
  const fault = canaryFault(read.entries, posed, isWrongVerdict);
  if (fault) return fault;
  const valid = validEntries(read.entries, verdict, [...posed.keys()], entry => entry.verdict);
  const value: Verdicts = new Map();
  if (!isWhole(valid, posed)) return { code: "ok", value };
  for (const [posedId, { verdict, evidence: quoted, reason }] of valid) {
    const { id, ...material } = posed.get(posedId)!;
    if (id === null) continue;
    const evidence = quoted.replaceAll(sign, "");
    const quotation = quotationOf(evidence, material);
    value.set(id, { verdict, evidence: shortened(evidence, 600), reason: shortened(reason), quotation });
  }
  return { code: "ok", value };
}

/** The classes by the ids of the request. */
export function readClasses(
  answer: GivenAnswer,
  asked: readonly string[],
  echo: Echo,
): JudgeOutcome<Classes> {
  const read = entriesOf(answer, "classes", echo);
  if ("code" in read) return read;
  const valid = validEntries(read.entries, classified, asked, entry => entry.rests_on);
  return {
    code: "ok",
    value: new Map([...valid].map(([id, { rests_on }]) => [id, rests_on === "unsure" ? null : rests_on])),
  };
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

const worded = z.object({ id: z.string(), label: z.string().optional(), verdict: z.string().optional() });

/** Reads the canaries' entries even if the rest of them is malformed. */
function canaryFault(
  entries: unknown[],
  posed: ReadonlyMap<string, Posed>,
  isWrong: (kind: CanaryKind, word: string) => boolean,
): Unanswered | undefined {
  for (const entry of entries) {
    const { data } = worded.safeParse(entry);
    const asked = data && posed.get(data.id);
    if (!asked || asked.id !== null) continue;
    if (isWrong(asked.canary, data.verdict ?? data.label ?? "")) {
      return unanswered("unusable", { code: "judge_integrity_failed", data: { wrong: asked.canary } });
    }
  }
  return undefined;
}

// A judge that is unsure of a canary is only careful.
function isWrongLabel(kind: CanaryKind, label: string): boolean {
  return label === (kind === "always" ? "no_match" : "match");
}

function isWrongVerdict(kind: CanaryKind, verdict: string): boolean {
  const wrong = { always: ["partly", "not_met"], never: ["met", "mostly", "partly"] }[kind];
  return [...wrong, "not_applicable"].includes(verdict);
}

/** Whether the canaries were answered. */
function isWhole(valid: ReadonlyMap<string, unknown>, posed: ReadonlyMap<string, Posed>): boolean {
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

function quotationOf(
  evidence: string,
  { reply, others }: { reply: string; others: string[] },
): GivenVerdict["quotation"] {
  if (words(evidence) === "") return "empty";
  if (quotes(reply, evidence)) {
    // A reply without any, such as "Yes, it is", is quoted as a whole.
    return hasContentWord(words(evidence)) || words(evidence) === words(reply) ? "found" : "trivial";
  }
  return others.some(text => quotes(text, evidence)) ? "elsewhere" : "invented";
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

/** Whether the quoted passages, separated by dots, occur in the reply in this order, as whole words. */
function quotes(reply: string, evidence: string): boolean {
  const shown = reply.split(gap).map(words).join(gap);
  let from = 0;
  return evidence.split(/\.{3}|…/).every(part => {
    const passage = words(part);
    const at = indexOf(passage, shown, from);
    from = at + passage.length;
    return at !== -1;
  });
}

// Compares words only: judges change quotation marks, spacing and markup when they copy.
function words(text: string): string {
  return stripInvisible(text)
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, " ")
    .trim();
}

/** -1 if not found: "possible" is not in "impossible", nor 5 in 15. */
function indexOf(passage: string, text: string, from: number): number {
  for (let at = text.indexOf(passage, from); at !== -1; at = text.indexOf(passage, at + 1)) {
    if (isBoundary(text, at) && isBoundary(text, at + passage.length)) return at;
  }
  return -1;
}

/** Whether this is a word boundary, in scripts that separate words. */
function isBoundary(text: string, at: number): boolean {
  return !/^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{N}\p{M}]{2}$/u.test(
    text.slice(at - 1, at + 1),
  );
}

function shortened(text: string, max = 300): string {
  const line = stripInvisible(text).replace(/\s+/g, " ").trim();
  return line.length <= max ? line : `${line.slice(0, max - 1).toWellFormed()}…`;
}
