// Reads what the judge wrote: everything it says is checked here, and what cannot be relied on is no answer.
import { z } from "zod";
import type { RouteLabels, Verdicts } from "../../model/judge/call.ts";
import { hasWord, visible } from "../../model/strip-invisible.ts";
import { isAboutAbsence } from "./absence.ts";
import { gap, type Posed } from "./prompts.ts";

/** What was read, or in a sentence that begins with "It" why nothing could be. */
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

/**
 * The labels of the asked ids. An entry that is malformed, an id that was not asked for, and an id labelled
 * twice in contradiction are left out; so a missing id is one to ask for again.
 */
export function readLabels(text: string, asked: readonly string[]): Read<RouteLabels> {
  const envelope = z.strictObject({ labels: z.array(z.unknown()) }).safeParse(jsonIn(text));
  if (!envelope.success) return notAsAsked;
  const labels = soundEntries(envelope.data.labels, label, asked, entry => entry.label);
  return {
    ok: true,
    value: new Map([...labels].map(([id, { label, why }]) => [id, { label, reason: shortened(why) }])),
  };
}

/**
 * The verdicts by the askers' ids, left out as labels are. None at all where the criterion with the known answer has
 * none, and no answer where that one is said to be met. A favourable verdict whose quotation does not occur in its
 * reply becomes "cannot_tell", and so does one without a quotation, unless its criterion is about what is absent.
 */
export function readVerdicts(text: string, posed: ReadonlyMap<string, Posed>, sign: string): Read<Verdicts> {
  const envelope = z.strictObject({ verdicts: z.array(z.unknown()) }).safeParse(jsonIn(text));
  if (!envelope.success) return notAsAsked;
  const entries = envelope.data.verdicts;
  const isCanary = (id: string) => posed.get(id)?.id === null;
  if (entries.some(entry => isFavourable(entry, isCanary))) {
    return { ok: false, why: "It failed the integrity check: it calls a criterion met that no reply meets." };
  }
  const sound = soundEntries(entries, verdict, [...posed.keys()], entry => entry.verdict);
  const value: Verdicts = new Map();
  if (![...sound.keys()].some(isCanary)) return { ok: true, value };
  for (const [posedId, { verdict, evidence: quoted, reason }] of sound) {
    const { id, criterion, reply } = posed.get(posedId)!;
    if (id === null) continue;
    const evidence = quoted.replaceAll(sign, "");
    const isToBear = verdict === "met" || verdict === "mostly";
    const fault = isToBear ? faultOf(evidence, criterion, reply) : undefined;
    value.set(
      id,
      fault === undefined
        ? { verdict, evidence: shortened(evidence, 600), reason: shortened(reason) }
        : { verdict: "cannot_tell", evidence: "", reason: fault, overruled: true },
    );
  }
  return { ok: true, value };
}

const favourable = z.object({ id: z.string(), verdict: z.enum(["met", "mostly", "partly"]) });

/** However malformed the rest of it is. */
function isFavourable(entry: unknown, isAbout: (id: string) => boolean): boolean {
  const { data } = favourable.safeParse(entry);
  return data !== undefined && isAbout(data.id);
}

const notAsAsked = { ok: false, why: "It did not answer with the JSON that was asked for." } as const;

/** By id: well-formed, asked for, and not contradicted by another entry about the same. */
function soundEntries<T extends { id: string }>(
  entries: unknown[],
  shape: z.ZodType<T>,
  asked: readonly string[],
  wordOf: (entry: T) => string,
): Map<string, T> {
  const sound = new Map<string, T>();
  const contradicted = new Set<string>();
  for (const entry of entries) {
    const { data } = shape.safeParse(entry);
    if (!data || !asked.includes(data.id)) continue;
    const earlier = sound.get(data.id);
    if (earlier && wordOf(earlier) !== wordOf(data)) contradicted.add(data.id);
    if (!earlier) sound.set(data.id, data);
  }
  for (const id of contradicted) sound.delete(id);
  return sound;
}

/** Why a favourable verdict does not stand on this quotation. */
function faultOf(evidence: string, criterion: string, reply: string): string | undefined {
  if (words(evidence) === "") {
    return isAboutAbsence(criterion) ? undefined : "The judge quoted no passage of the reply.";
  }
  return quotes(reply, evidence) ? undefined : "The passage the judge quoted is not in the reply.";
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

/** Whether its passages, which dots may part, stand in the reply in this order, each from one end of a word to another. */
function quotes(reply: string, evidence: string): boolean {
  const shown = reply.split(gap).map(words).join(gap);
  let from = 0;
  return evidence.split(/\.{3}|…/).every(part => {
    const passage = words(part);
    const at = placeOf(passage, shown, from);
    from = at + passage.length;
    return at !== -1;
  });
}

// By its words alone: judges change quotation marks, spacing and markup when they copy.
function words(text: string): string {
  return visible(text)
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, " ")
    .trim();
}

/** -1 where it is not: "possible" does not stand in "impossible", nor 5 in 15. */
function placeOf(passage: string, text: string, from: number): number {
  for (let at = text.indexOf(passage, from); at !== -1; at = text.indexOf(passage, at + 1)) {
    if (isApart(text, at) && isApart(text, at + passage.length)) return at;
  }
  return -1;
}

/** Whether no word goes on there, as far as the script parts its words. */
function isApart(text: string, at: number): boolean {
  return !/^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{N}\p{M}]{2}$/u.test(
    text.slice(at - 1, at + 1),
  );
}

function shortened(text: string, max = 300): string {
  const line = visible(text).replace(/\s+/g, " ").trim();
  return line.length <= max ? line : `${line.slice(0, max - 1).toWellFormed()}…`;
}
