// Reads what the judge wrote: everything it says is checked here, and what cannot be relied on is no answer.
import { z } from "zod";
import type { RouteLabel } from "../model/judge.ts";
import { hasWord, replyAsShown, visible } from "./judge-prompts.ts";

/** What was read, or in words why nothing could be. */
export type Read<T> = { ok: true; value: T } | { ok: false; why: string };

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

/** The shape asked for by each kind of question. Flat, all required, without bounds: what every structured-output mode can express. */
export const answerSchemas = {
  route: z.strictObject({ labels: z.array(label) }),
  semantic: z.strictObject({ verdicts: z.array(verdict) }),
};

export type Labels = Map<string, { label: RouteLabel; reason: string }>;

/**
 * The labels of the asked ids. An entry that is malformed, an id that was not asked for, and an id labelled
 * twice in contradiction are left out; so a missing id is one to ask for again.
 */
export function readLabels(text: string, asked: readonly string[]): Read<Labels> {
  const envelope = z.strictObject({ labels: z.array(z.unknown()) }).safeParse(jsonIn(text));
  if (!envelope.success) return { ok: false, why: "it is not the JSON that was asked for" };
  const labels: Labels = new Map();
  const contradicted = new Set<string>();
  for (const entry of envelope.data.labels) {
    const parsed = label.safeParse(entry);
    if (!parsed.success || !asked.includes(parsed.data.id)) continue;
    const { id, why } = parsed.data;
    const earlier = labels.get(id);
    if (earlier && earlier.label !== parsed.data.label) contradicted.add(id);
    if (!earlier) labels.set(id, { label: parsed.data.label, reason: shortened(why) });
  }
  for (const id of contradicted) labels.delete(id);
  return { ok: true, value: labels };
}

/** `score` is the mean over the criteria that were decided, null when none was. */
export type Judgement = { score: number | null; reason: string };

/** The anchors: the judge chooses a word, the number is ours. */
const scores = { met: 1, mostly: 0.75, partly: 0.4, not_met: 0 };

/**
 * The judgement of a reply from one verdict for each asked id, no more and no fewer. A favourable verdict whose
 * quotation does not occur in the reply counts as undecided; no quotation at all stands, since a criterion may
 * be met by what is absent.
 */
export function readVerdicts(text: string, asked: readonly string[], reply: string): Read<Judgement> {
  const parsed = answerSchemas.semantic.safeParse(jsonIn(text));
  if (!parsed.success) return { ok: false, why: "it is not the JSON that was asked for" };
  const { verdicts } = parsed.data;
  const ids = new Set(verdicts.map(({ id }) => id));
  if (verdicts.length !== asked.length || !asked.every(id => ids.has(id))) {
    return { ok: false, why: "it does not have one verdict for each criterion" };
  }
  const decided: number[] = [];
  const reasons: string[] = [];
  for (const { verdict, evidence, reason } of verdicts) {
    const favourable = verdict === "met" || verdict === "mostly";
    const invented = favourable && !quotes(reply, evidence);
    if (verdict !== "cannot_tell" && !invented) decided.push(scores[verdict]);
    reasons.push(invented ? "The passage the judge quoted is not in the reply." : shortened(reason));
  }
  const score = decided.length === 0 ? null : decided.reduce((sum, score) => sum + score) / decided.length;
  return { ok: true, value: { score, reason: reasons.join(" ") } };
}

/**
 * The JSON a text consists of: all of it, what follows a model's thinking aloud, or the one fenced block it ends
 * with. JSON that is merely mentioned is none: it may be quoted from the material.
 */
function jsonIn(text: string): unknown {
  const said = text.replace(/^\s*<think>[\s\S]*?<\/think>/, "").trim();
  const [, fenced, ...more] = said.split(/```(?:json)?[ \t]*(?:\r?\n|$)/i);
  const candidate = more.length === 1 && more[0] === "" ? fenced! : said;
  try {
    return JSON.parse(candidate);
  } catch {
    return undefined;
  }
}

// Words only, in order: judges change quotation marks, spacing and markup when they copy, and elide with dots.
function quotes(reply: string, evidence: string): boolean {
  const shown = words(replyAsShown(reply));
  return evidence.split(/\.{3}|…/).every(fragment => shown.includes(words(fragment)));
}

function words(text: string): string {
  return visible(text)
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, " ")
    .trim();
}

function shortened(text: string): string {
  const line = visible(text).replace(/\s+/g, " ").trim();
  return line.length <= 300 ? line : `${line.slice(0, 299).toWellFormed()}…`;
}
