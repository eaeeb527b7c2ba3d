// Finds the passages that a judge quoted in the texts that it was shown, word by word.
import { stripInvisible } from "../strip-invisible.ts";
import { gap } from "./prompt-bounds.ts";

/** What of a text can be quoted, for `quotes`. */
export function wordsShown(text: string): string {
  return text.split(gap).map(words).join(gap);
}

/** Whether the quoted passages, separated by dots, occur among these words in this order, as whole words. */
export function quotes(shown: string, evidence: string): boolean {
  let from = 0;
  return evidence.split(/\.{3}|…/).every(part => {
    const passage = words(part);
    const at = indexOf(passage, shown, from);
    from = at + passage.length;
    return at !== -1;
  });
}

// Compares words only: judges change quotation marks, spacing and markup when they copy.
export function words(text: string): string {
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
