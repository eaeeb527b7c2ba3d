// Tells what the words around a number say it is: the last one before it, or the first after it.
import { type BuiltInRule, builtInRules } from "../model/redaction.ts";
import { type Kind, words } from "./words.ts";

export type Finding = { rule: BuiltInRule; start: number; end: number };

/** A text that is searched. Words before `from` are about what was found up to there; `isAfterPhone`: that is a phone number. Up to `secretEnd` is a secret. */
export type Scan = { readonly text: string; from: number; isAfterPhone: boolean; secretEnd: number };

/** `gap`: between the word and the number. */
export type Said = { kind: Kind; gap: string };

/** How far words count. */
const [reachBefore, reachAfter] = [44, 20];

/** Scripts in which a word counts anywhere, since it has no blank before it. */
const joined = /[\u0590-\u06ff\u0e00-\u0e7f\u2600-\u30ff\u3400-\u9fff\uac00-\ud7af]/;

/** Of the words by their first unit, in either case: the longest first. */
const byFirst = new Map<number, RegExp>();
const kinds = Object.keys(words) as Kind[];
{
  const entries = kinds.flatMap(kind =>
    words[kind]
      .trim()
      .split(/\s+/)
      .map(word => ({ kind, word })),
  );
  for (const [first, some] of Map.groupBy(entries, ({ word }) => word[0]!)) {
    some.sort((a, b) => b.word.length - a.word.length);
    const sources = kinds.map(kind => {
      const own = some.filter(one => one.kind === kind).map(({ word }) => sourceOf(word));
      return own.length === 0 ? "" : `(?<${kind}>${own.join("|")})`;
    });
    const pattern = new RegExp(sources.filter(Boolean).join("|"), "iuy");
    for (const form of [first, first.toUpperCase()]) byFirst.set(form.charCodeAt(0), pattern);
  }
}

function sourceOf(word: string): string {
  const isWhole = word.endsWith("!");
  const plain = isWhole ? word.slice(0, -1) : word;
  const source = plain.replace(/[.]/g, "\\$&").replaceAll("_", "[ _-]");
  return isWhole ? `${source}(?![\\p{L}\\p{M}])` : source;
}

const begins = new Uint8Array(65_536);
for (const code of byFirst.keys()) begins[code] = 1;

/** The last word before `start`. One that only says that a number follows counts if no other does. */
export function saidBefore(scan: Scan, start: number): Said | null {
  const { text } = scan;
  let from = Math.max(scan.from, start - reachBefore);
  let isAfterPhone = scan.isAfterPhone && from === scan.from;
  let [kind, end]: [Kind | null, number] = [null, from];
  for (let at = from; at < start; ) {
    const match = wordAt(text, at);
    if (match && at + match.length <= start) {
      if (kind === null || match.kind !== "number") kind = match.kind;
      at += match.length;
      end = at;
      continue;
    }
    at++;
    const rule = text[at - 1] === "⟧" && placeholder.exec(text.slice(Math.max(0, at - 12), at))?.[1];
    if (!rule) continue;
    // What is redacted again must be told the same as before.
    isAfterPhone = rule === "phone";
    kind = null;
    from = at;
    end = at;
  }
  // One phone number is often followed by another.
  if (kind === null && isAfterPhone && list.test(text.slice(from, start))) kind = "phone";
  return kind && { kind, gap: text.slice(end, start) };
}

/** Between values that are listed. */
const list =
  /^(?:[\s,;/|&、+(]|\b(?:and|or|und|oder|et|ou|y|e|o|en|of|i|lub|и|или|та|або|ve|veya|och|eller|ja|tai|dan|atau|và|hoặc)\b|[和或와]){0,8}$/isu;

const placeholder = new RegExp(`⟦(${builtInRules.join("|")})⟧$`);

/** Whether one of the kinds is said in the words right after `end`. */
export function isSaidAfter(text: string, end: number, some: readonly Kind[], reach = reachAfter): boolean {
  const to = Math.min(text.length, end + reach);
  for (let at = end; at < to; at++) {
    const code = text.charCodeAt(at);
    if (code === 10 || (code >= 48 && code <= 57)) return false;
    const match = wordAt(text, at);
    if (match && some.includes(match.kind)) return true;
  }
  return false;
}

function wordAt(text: string, at: number): { kind: Kind; length: number } | null {
  const code = text.charCodeAt(at);
  if (begins[code] === 0 || !isWordStart(text, at, code)) return null;
  const pattern = byFirst.get(code)!;
  pattern.lastIndex = at;
  const groups = pattern.exec(text)?.groups;
  if (!groups) return null;
  for (const kind of kinds) if (groups[kind] !== undefined) return { kind, length: groups[kind].length };
  return null;
}

function isWordStart(text: string, at: number, code: number): boolean {
  if (at === 0) return true;
  const before = text.charCodeAt(at - 1);
  if (scriptOf(before) === noLetter || scriptOf(code) === joinedLetter) return true;
  // userId
  return code >= 65 && code <= 90 && before >= 97 && before <= 122;
}

const [noLetter, letter, joinedLetter] = [1, 2, 3];
/** By unit; 0: not yet known. */
const scripts = new Uint8Array(65_536);

function scriptOf(code: number): number {
  let script = scripts[code]!;
  if (script === 0) {
    const char = String.fromCharCode(code);
    script = !/[\p{L}\p{M}]/u.test(char) ? noLetter : joined.test(char) ? joinedLetter : letter;
    scripts[code] = script;
  }
  return script;
}
