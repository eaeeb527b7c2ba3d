// Finds the email address around an @.
import { isDigit, isEscapeLetter, isLatin, isLatinOrDigit, isOtherLetter } from "./characters.ts";
import { codeAt, type Text } from "./units.ts";

const localMax = 64;
const domainMax = 253;

/** Null if there is none. `size`: of the @, which is three characters long in URLs, `%40`. */
export function emailAt(text: Text, at: number, size = 1): { start: number; end: number } | null {
  // The domain first: no other address has a part of it, while `%40%40…` may be the local part of many.
  const end = endOfDomain(text, at + size);
  if (end === -1) return null;
  const start = startOfLocal(text, at);
  if (start === at) return null;
  // git@github.com:owner/repository
  if (codeAt(text, end) === 58 && text.slice(start, at) === "git") return null;
  return { start, end };
}

/** People with names in other scripts have addresses in them; a text without blanks, such as Japanese, ends where the script changes. */
function startOfLocal(text: Text, at: number): number {
  const isOther = isOtherLetter(codeAt(text, at - 1));
  let start = at;
  while (start > 0 && at - start < localMax) {
    const code = codeAt(text, start - 1);
    const isPart = isOther
      ? isOtherLetter(code) || isDigit(code) || code === 46
      : isLatinOrDigit(code) || localMarks.has(code);
    if (!isPart) break;
    start--;
  }
  start = afterEscape(text, start, at);
  while (start < at && !isLatinOrDigit(codeAt(text, start)) && !isOtherLetter(codeAt(text, start))) {
    if (codeAt(text, start) === 95) break;
    start++;
  }
  return codeAt(text, at - 1) === 46 ? at : start;
}

/** Of `\njane@…`, in JSON that is read as text, the n is none of the address. */
function afterEscape(text: Text, start: number, at: number): number {
  if (codeAt(text, start - 1) !== 92) return start;
  if (isEscapeLetter(text, start)) return start + 1;
  return /^u[\da-f]{4}/i.test(text.slice(start, start + 5)) && start + 5 <= at ? start + 5 : start;
}

/** _ . - + % ' & */
const localMarks: ReadonlySet<number> = new Set([95, 46, 45, 43, 37, 39, 38]);

/** After the last label that can be a top-level domain; -1 if no domain begins here. */
function endOfDomain(text: Text, from: number): number {
  let end = -1;
  let label = from;
  const most = Math.min(text.length, from + domainMax);
  for (let labels = 1; label < most; labels++) {
    const isOther = isOtherLetter(codeAt(text, label));
    const isLetter = isOther ? isOtherLetter : isLatin;
    let letters = label;
    while (letters < most && isLetter(codeAt(text, letters))) letters++;
    let at = letters;
    while (at < most && isLabelPart(codeAt(text, at), isLetter)) at++;
    if (at === label) break;
    const isEncoded = text.startsWith("xn--", label);
    const last = isEncoded ? at : letters;
    if (labels > 1 && (isEncoded || isTopLevel(text.slice(label, last)))) end = last;
    if (codeAt(text, at) !== 46 || codeAt(text, at - 1) === 45) break;
    label = at + 1;
  }
  return end;
}

function isLabelPart(code: number, isLetter: (code: number) => boolean): boolean {
  return isLetter(code) || isDigit(code) || code === 45;
}

function isTopLevel(label: string): boolean {
  return label.length >= 2 && label.length <= 24 && !fileEndings.has(label.toLowerCase());
}

/** `logo@2x.png` is a file. */
const fileEndings: ReadonlySet<string> = new Set(
  "png jpg jpeg gif webp svg ico js mjs jsx tsx css scss json html htm xml txt pdf yml yaml lock dll exe jar whl tgz zip map".split(
    " ",
  ),
);
