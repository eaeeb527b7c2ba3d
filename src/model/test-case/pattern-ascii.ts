// Warns of escapes that know ASCII only, in patterns with letters or digits beyond it.
import { classesIn, withPlainEscapes } from "./pattern-syntax.ts";

/** Undefined where nothing is to be said. */
export function asciiWarning(pattern: string): string | undefined {
  const plain = withPlainEscapes(pattern);
  const escapes = escapesIn(plain);
  const areLetters = escapes.some(name => !/d/i.test(name));
  const other = escapes.length === 0 ? undefined : otherCharacter(plain, areLetters);
  if (other === undefined) return undefined;
  const names = escapes.map(name => `\\${name}`).join(" and ");
  if (!areLetters)
    return `${names} knows only the digits 0 to 9. \\p{N} is a digit of any script, \\P{N} anything else.`;
  const boundary = escapes.includes("b")
    ? " Instead of \\b, write (?:^|[^\\p{L}\\p{N}]) before a word and (?:$|[^\\p{L}\\p{N}]) after it."
    : "";
  return `${names} ${escapes.length === 1 ? "knows" : "know"} only ASCII letters and digits, not ${other}. \\p{L} is any letter, \\p{N} any digit.${boundary}`;
}

/** Those of ASCII, each once; but a class such as [\w\p{L}] knows more than \w. */
function escapesIn(pattern: string): string[] {
  const wide = classesIn(pattern).filter(list => /\\[pP]/.test(list));
  const narrow = wide.reduce((rest, list) => rest.replace(list, ""), pattern);
  const found = narrow.matchAll(/\\Q.*?(?:\\E|$)|\\(?:([bwd])|.)/gis);
  return [...new Set(Array.from(found, ([, name]) => name).filter(name => name !== undefined))];
}

/** The first letter or digit beyond ASCII, quoted; beside escapes of letters, also a property such as \p{Cyrillic}. */
function otherCharacter(pattern: string, besideLetters: boolean): string | undefined {
  const written = pattern.replace(/\\x\{([\da-f]{1,6})\}|\\x([\da-f]{2})/gi, (escaped, long, short) => {
    const code = Number.parseInt(long ?? short, 16);
    return code > 0x7f && code <= 0x10ffff ? String.fromCodePoint(code) : escaped;
  });
  const [literal] = /(?![\0-\x7f])[\p{L}\p{N}]/u.exec(written.normalize("NFC")) ?? [];
  if (literal !== undefined) return `“${literal}”`;
  return besideLetters ? propertyOfLetters.exec(written)?.[0] : undefined;
}

/** A category of letters or digits, or a script. */
const propertyOfLetters = /\\p(?:[LN]|\{\^?(?:[LN]\w?|(?!White_Space|Emoji|Math)[A-Z][a-z]\w+)\})/;
