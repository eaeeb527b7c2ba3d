// Warns of escapes that know ASCII only, in patterns with letters or digits beyond it.
import { classesIn, withPlainEscapes } from "./pattern-syntax.ts";

/** Undefined where nothing is to be said. */
export function asciiWarning(pattern: string): string | undefined {
  const plain = withPlainEscapes(pattern);
  // A class such as [\w\p{L}] knows more than \w.
  const wide = classesIn(plain).filter(list => /\\[pP]/.test(list));
  const narrow = wide.reduce((rest, list) => rest.replace(list, ""), plain);
  const escapes = [...new Set(Array.from(narrow.matchAll(/\\(?:([bwdBWD])|.)/gs), ([, name]) => name))];
  const [letters, digits, boundary] = ["wW", "dD", "bB"].map(names =>
    escapes.find(name => name !== undefined && names.includes(name)),
  );
  const used = [boundary, letters, digits].filter(name => name !== undefined);
  const other = used.length > 0 ? otherCharacter(plain, boundary ?? letters) : undefined;
  if (other === undefined) return undefined;
  const [knows, ascii] =
    used.length === 1 ? ["knows", asciiOf(digits === used[0])] : ["know", asciiOf(false)];
  const instead = boundary
    ? ` Instead of \\${boundary}, write (?:^|[^\\p{L}\\p{N}]) before a word and (?:$|[^\\p{L}\\p{N}]) after it.`
    : "";
  return `${used.map(name => `\\${name}`).join(" and ")} ${knows} only ${ascii}, not ${other}. \\p{L} is any letter, \\p{N} any digit.${instead}`;
}

function asciiOf(areDigits: boolean): string {
  return areDigits ? "the digits 0 to 9" : "ASCII letters and digits";
}

/** The first letter or digit beyond ASCII, quoted; a class of such letters counts beside letters and word boundaries. */
function otherCharacter(pattern: string, besideLetters: string | undefined): string | undefined {
  const written = pattern.replace(/\\x\{([\da-f]{1,6})\}|\\x([\da-f]{2})/gi, (plain, long, short) => {
    const code = Number.parseInt(long ?? short, 16);
    return code > 0x7f && code <= 0x10ffff ? String.fromCodePoint(code) : plain;
  });
  const [literal] = /(?![\0-\x7f])[\p{L}\p{M}\p{N}]/u.exec(written) ?? [];
  if (literal !== undefined) return `“${literal}”`;
  return besideLetters ? /\\p(?:L|\{\^?[A-Z]\w+\}|\{L\})/.exec(written)?.[0] : undefined;
}
