// Finds the passages that a judge quoted in the texts that it was shown, word by word.
import { stripInvisible } from "../strip-invisible.ts";
import { isNegatedAfter, isNegatedBefore, negates } from "./negations.ts";
import { gap } from "./prompt-bounds.ts";

/** Of a passage with something left out: from its first word to its last, and how many words each part has at least. */
const stitched = { charactersMax: 300, wordsMin: 3 };

/** Stands between two words with punctuation or a line break between them, where others have a space. */
const clauseEnd = "\n";

/** What of a text can be quoted, for `quotes`. */
export function wordsShown(text: string): string {
  return text
    .split(gap)
    .map(part => joined(part, clauseEnd))
    .join(gap);
}

/**
 * Whether the quoted passage occurs among these words, as whole words and not without a negation beside it. It may leave out
 * one passage, marked by dots, if that negates nothing.
 */
export function quotes(shown: string, evidence: string): boolean {
  const text = shown.replaceAll(clauseEnd, " ");
  if (find(shown, text, words(evidence)).next().value !== undefined) return true;
  const parts = evidence.split(/\.{3,}|…/).map(words);
  const [first, second, ...more] = parts.filter(part => part !== "") as [string, string?, ...string[]];
  if (second === undefined || more.length > 0 || ![first, second].every(isLong)) return false;
  for (const from of find(shown, text, first)) {
    const end = from + first.length;
    for (const at of find(shown, text, second, end, from + stitched.charactersMax)) {
      const between = text.slice(end, at);
      if (!between.includes(gap) && !negates(between, text)) return true;
    }
  }
  return false;
}

/** Whether a passage is the whole of the text. */
export function isWholeText(shown: string, evidence: string): boolean {
  return shown.replaceAll(clauseEnd, " ") === words(evidence);
}

/** Compares words, numbers and their signs only: judges change quotation marks, spacing and markup when they copy. */
export function words(text: string): string {
  return joined(text, " ");
}

// "-5", "$5", "5.5", "14:05" and "5%" are one word each; a hyphen between letters or after a digit separates.
const word =
  /(?:(?<![\p{L}\p{M}\p{N}])[-+<>≤≥≠±](?=\p{Sc}?\p{N}))?(?:\p{Sc}(?=\p{N}))?[\p{L}\p{M}\p{N}]+(?:(?<=\p{N})[.,:/'](?=\p{N})[\p{L}\p{M}\p{N}]+)*(?:(?<=\p{N})(?:[%‰°]|\p{Sc}))?|✗/gu;

function joined(text: string, ofClause: string): string {
  const plain = stripInvisible(text)
    .normalize("NFKC")
    .toLowerCase()
    .replace(/<\/?\p{L}[^<>\n]{0,200}>/gu, " ")
    .replace(/[−–](?=\p{Sc}?\p{N})/gu, "-")
    .replaceAll("’", "'")
    .replace(/[✘❌☒🚫⛔👎]/gu, " ✗ ")
    .replace(/n't(?!\p{L})/gu, " not")
    .replace(/(?<!\p{L})cannot(?!\p{L})/gu, "can not");
  let found = "";
  let end = 0;
  for (const { 0: one, index } of plain.matchAll(word)) {
    if (found !== "") found += /[.,;:!?()\n\r。，、！？；]/.test(plain.slice(end, index)) ? ofClause : " ";
    found += one;
    end = index + one.length;
  }
  return found;
}

/** Where the passage occurs: "possible" is not in "impossible" or "not possible", nor 5 in 15, -5 or 5.5. */
function* find(
  shown: string,
  text: string,
  passage: string,
  from = 0,
  to = text.length,
): Generator<number, undefined> {
  if (passage === "") return;
  const searched = text.slice(0, to);
  for (let at = searched.indexOf(passage, from); at !== -1; at = searched.indexOf(passage, at + 1)) {
    const end = at + passage.length;
    if (!isBoundary(text, at) || !isBoundary(text, end)) continue;
    if (!isNegatedBefore(shown, at) && !isNegatedAfter(shown, end)) yield at;
  }
}

/** Whether this is a word boundary, in scripts that separate words. */
function isBoundary(text: string, at: number): boolean {
  return !/^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{N}\p{M}\p{Sc}.,:/'%‰°<>≤≥≠±+-]{2}$/u.test(
    text.slice(at - 1, at + 1),
  );
}

/** By dictionary in scripts without spaces. */
function isLong(part: string): boolean {
  let count = 0;
  for (const { isWordLike } of segmenter.segment(part)) {
    if (isWordLike && ++count === stitched.wordsMin) return true;
  }
  return false;
}

const segmenter = new Intl.Segmenter("en", { granularity: "word" });
