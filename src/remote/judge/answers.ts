// Parses and validates the judge's answers: labels, verdicts, and the quotations that a verdict needs.
import { z } from "zod";
import type { RouteLabels, Verdicts } from "../../model/judge/call.ts";
import { type JudgeOutcome, unanswered } from "../../model/judge/outcome.ts";
import { type JudgeReason, reasonText } from "../../model/run/reason.ts";
import { hasWord, stripInvisible } from "../../model/strip-invisible.ts";
import { isAboutAbsence } from "./absence.ts";
import { gap, type Posed } from "./prompts.ts";

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
  verdict: z.enum(["met", "mostly", "partly", "not_met", "cannot_tell"]),
});

/** The shape of each kind of answer. Flat, all required, without bounds: what every structured-output mode can express. */
export const answerSchemas = {
  route: z.strictObject({ labels: z.array(label) }),
  semantic: z.strictObject({ verdicts: z.array(verdict) }),
};

/**
 * The labels of the ids in `asked`. Malformed entries, unknown ids and ids with contradicting labels are left out; a
 * missing id is asked for again.
 */
export function readLabels(text: string, asked: readonly string[]): JudgeOutcome<RouteLabels> {
  const envelope = z.strictObject({ labels: z.array(z.unknown()) }).safeParse(jsonIn(text));
  if (!envelope.success) return malformed;
  const labels = validEntries(envelope.data.labels, label, asked, entry => entry.label);
  return {
    code: "ok",
    value: new Map([...labels].map(([id, { label, why }]) => [id, { label, reason: shortened(why) }])),
  };
}

/**
 * The verdicts by the ids of the request, left out as labels are. Without a verdict on the canary, the criterion that no
 * reply meets, there are none; with a favorable one, the answer is unusable. A favorable verdict becomes "cannot_tell"
 * if its quotation is not in the reply, or is missing although the criterion is not about something absent.
 */
export function readVerdicts(
  text: string,
  posed: ReadonlyMap<string, Posed>,
  sign: string,
): JudgeOutcome<Verdicts> {
  const envelope = z.strictObject({ verdicts: z.array(z.unknown()) }).safeParse(jsonIn(text));
  if (!envelope.success) return malformed;
  const entries = envelope.data.verdicts;
  const isCanary = (id: string) => posed.get(id)?.id === null;
  if (entries.some(entry => isFavorable(entry, isCanary))) {
    return unanswered("unusable", { code: "judge_integrity_failed" });
  }
  const valid = validEntries(entries, verdict, [...posed.keys()], entry => entry.verdict);
  const value: Verdicts = new Map();
  if (![...valid.keys()].some(isCanary)) return { code: "ok", value };
  for (const [posedId, { verdict, evidence: quoted, reason }] of valid) {
    const { id, criterion, reply } = posed.get(posedId)!;
    if (id === null) continue;
    const evidence = quoted.replaceAll(sign, "");
    const needsQuote = verdict === "met" || verdict === "mostly";
    const fault = needsQuote ? quoteFault(evidence, criterion, reply) : undefined;
    value.set(
      id,
      fault === undefined
        ? { verdict, evidence: shortened(evidence, 600), reason: shortened(reason) }
        : { verdict: "cannot_tell", evidence: "", reason: reasonText(fault), overruled: true },
    );
  }
  return { code: "ok", value };
}

const favorable = z.object({ id: z.string(), verdict: z.enum(["met", "mostly", "partly"]) });

/** However malformed the rest of the entry is. */
function isFavorable(entry: unknown, isAbout: (id: string) => boolean): boolean {
  const { data } = favorable.safeParse(entry);
  return data !== undefined && isAbout(data.id);
}

const malformed = unanswered("unusable", { code: "judge_answer_malformed" });

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

/** Why the quotation does not support a favorable verdict. */
function quoteFault(evidence: string, criterion: string, reply: string): JudgeReason | undefined {
  if (words(evidence) === "") {
    return isAboutAbsence(criterion) ? undefined : { code: "judge_quote_missing" };
  }
  return quotes(reply, evidence) ? undefined : { code: "judge_quote_not_found" };
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
