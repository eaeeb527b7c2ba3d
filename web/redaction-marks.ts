// Marks redacted places inside texts and values on their way to the screen, where RedactedText shows each as a chip.
import type { PlacesOfRule, Redaction } from "../src/model/redaction.ts";
import type { RedactedCopy } from "../src/model/run/run.ts";
import { isRecord } from "./record.ts";
import { stepText } from "./value-path.ts";

// Noncharacters, which JSON and Markdown leave alone, drawn anew for each page: no text that was sent can have these marks.
const [open, close] = [randomMark(), randomMark()];
const marked = new RegExp(`${open}([^\uFDD0-\uFDEF]*)${close}`, "g");
const marks = new RegExp(`${open}|${close}`, "g");
/** As an encoded URL has them. */
const encodedMarks = new RegExp(`${encodeURI(open)}|${encodeURI(close)}`, "gi");

const lengths = Array.from({ length: open.length - 1 }, (_, at) => open.length - 1 - at);
const heads = lengths.flatMap(length => [open.slice(0, length), close.slice(0, length)]);
const tails = lengths.flatMap(length => [open.slice(-length), close.slice(-length)]);

function randomMark(): string {
  const codes = [...crypto.getRandomValues(new Uint8Array(8))].map(byte => 0xfdd0 + (byte % 32));
  return String.fromCharCode(...codes);
}

/** Without the marks: the text as it is stored. */
export function withoutMarks(text: string): string {
  return text.includes(open) || text.includes(close) ? text.replace(marks, "") : text;
}

export function urlWithoutMarks(url: string): string {
  return withoutMarks(url).replace(encodedMarks, "");
}

/** The name of a rule, or a pseudonym. */
const standsForValue = /^(?:\[[a-z0-9_-]{1,32}\]|p_[\w-]{8,})$/;

export function markText(
  text: string,
  redactions: readonly Pick<PlacesOfRule, "places">[] | undefined,
): string {
  if (!redactions || redactions.length === 0) return text;
  const places = redactions.flatMap(({ places }) => places).sort((a, b) => a[0] - b[0]);
  let [out, from] = ["", 0];
  for (const [start, end] of places) {
    // Behind the end: the text was shortened. Another text: something before it was erased since.
    if (start < from || end > text.length || !standsForValue.test(text.slice(start, end))) continue;
    out += text.slice(from, start) + open + text.slice(start, end) + close;
    from = end;
  }
  return out + text.slice(from);
}

/** For tooltips and other places that show plain text only: "Mail [redacted: email]". */
export function plainText(text: string, redactions?: readonly Pick<PlacesOfRule, "places">[]): string {
  return partsOf(markText(text, redactions))
    .map(({ text, redacted }) => (redacted ? `[${redactionName(text).toLowerCase()}]` : text))
    .join("");
}

/** "Redacted: email" of "[email]". */
export function redactionName(text: string): string {
  if (text === "[unchecked]") return "Not stored: checking this text for private data took too long";
  const rule = /^\[(.*)\]$/s.exec(text)?.[1];
  return rule === undefined ? "Redacted: pseudonym of an ID" : `Redacted: ${rule}`;
}

/** Whether an ID is a pseudonym that the service made. `rules`: those that redacted something in its trace. */
export function isPseudonym(id: string, rules: readonly string[]): boolean {
  return rules.includes("pseudonym") && /^p_[\w-]{22}$/.test(id);
}

/** For tooltips: "p_… (pseudonym)". */
export function plainId(id: string, rules: readonly string[]): string {
  return isPseudonym(id, rules) ? `${id} (pseudonym)` : id;
}

/** Where the range of the text is in the text with marks. */
export function rangeInMarked(text: string, [from, to]: readonly [number, number]): [number, number] {
  const found = Array.from(text.matchAll(marks), ({ 0: mark, index }) => ({ index, length: mark.length }));
  const at = (place: number) =>
    found.reduce((sum, { index, length }) => (index <= sum ? sum + length : sum), place);
  return [at(from), at(to)];
}

/** A part of a text; `redacted`: stands for what a rule took out. */
export type TextPart = { text: string; redacted: boolean };

/** Also of a text that was cut inside a mark. */
export function partsOf(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let from = 0;
  const add = (part: string, redacted: boolean) => {
    if (part !== "") parts.push({ text: part, redacted });
  };
  for (const { 0: whole, 1: inner = "", index } of text.matchAll(marked)) {
    add(withoutPartialMarks(text.slice(from, index)), false);
    add(inner, true);
    from = index + whole.length;
  }
  add(withoutPartialMarks(text.slice(from)), false);
  return parts;
}

/** The text between two marks, or of a piece that was cut out of the middle of one. */
function withoutPartialMarks(text: string): string {
  const rest = withoutMarks(text);
  if (!/^[\uFDD0-\uFDEF]|[\uFDD0-\uFDEF]…?$/.test(rest)) return rest;
  const start = tails.find(tail => rest.startsWith(tail)) ?? "";
  const end = heads.find(head => rest.endsWith(head) || rest.endsWith(`${head}…`)) ?? "";
  const isShortened = end !== "" && rest.endsWith("…");
  return (
    rest.slice(start.length, rest.length - end.length - (isShortened ? 1 : 0)) + (isShortened ? "…" : "")
  );
}

/** Where texts of one part of a span, such as its events, were redacted: by path. */
export type RedactedPaths = ReadonlyMap<string, Pick<PlacesOfRule, "places">[]>;

/** `redactions`: of a span, or those of a trace that are of no span. */
export function redactedIn(redactions: readonly Redaction[], where: Redaction["in"]): RedactedPaths {
  return Map.groupBy(
    redactions.filter(one => one.in === where),
    ({ path }) => path,
  );
}

/** Each attribute's path is its bare key. */
export function markFields<T extends object>(attributes: T, paths: RedactedPaths): T {
  if (paths.size === 0) return attributes;
  const entries = Object.entries(attributes).map(([key, value]) => [key, markValue(value, key, paths)]);
  return Object.fromEntries(entries) as T;
}

/** With marks in the texts that its redactions name by their path. */
export function markCopies<T extends { redactions?: readonly RedactedCopy[] | undefined }>(copies: T): T {
  return markFields(
    copies,
    Map.groupBy(copies.redactions ?? [], ({ path }) => path),
  );
}

/** `path`: of the value, as redactions tell it. The same value if nothing was redacted in this part of the span. */
export function markValue<T>(value: T, path: string, paths: RedactedPaths): T {
  if (paths.size === 0) return value;
  if (typeof value === "string") return markText(value, paths.get(path)) as T;
  if (Array.isArray(value)) {
    return value.map((item, at) => markValue(item, path + stepText(at), paths)) as T;
  }
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([key, item]) => [
    key,
    markValue(item, path + stepText(key), paths),
  ]);
  return Object.fromEntries(entries) as T;
}
