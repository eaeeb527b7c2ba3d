// Regular expressions of test cases, compiled by a linear-time engine; unsupported syntax is refused with a reason.
import { RE2JS, RE2JSException, RE2JSSyntaxException } from "re2js";

export const patternMax = 1000;

/** A pattern cannot be used; the message says why, and what to do if there is an alternative. */
export class PatternFault extends Error {
  override name = "PatternFault";
}

export type Pattern = {
  /** Instructions of the compiled program: times the length of a text, this bounds the cost of a search. */
  size: number;
  /** Whether the pattern occurs anywhere in the text. */
  occursIn(text: string): boolean;
  /** Where the pattern first occurs. */
  find(text: string): { start: number; end: number } | null;
  /**
   * Everywhere it occurs, without overlaps and empty matches. Null if that takes more than `msMax`: one search is linear in
   * the text, but each may look at all of it again.
   */
  findAll(text: string, msMax: number): { start: number; end: number }[] | null;
};

const flagBits: Record<string, number> = {
  i: RE2JS.CASE_INSENSITIVE,
  m: RE2JS.MULTILINE,
  s: RE2JS.DOTALL,
};

// The patterns of some tests; with a limit on their number, the hundred patterns of one test would push each other out,
// and be compiled again for every trace.
const cachedSizeMax = 50_000;
const cache = new Map<string, Pattern>();
let cachedSize = 0;

/** Compiles the pattern, or returns it from a cache. Throws PatternFault. */
export function compilePattern(source: string, flags = ""): Pattern {
  const key = `${flags}/${source}`;
  const known = cache.get(key);
  if (known) return known;
  const made = compile(source, flags);
  cachedSize += made.size;
  for (const [oldest, { size }] of cache) {
    if (cachedSize <= cachedSizeMax) break;
    cache.delete(oldest);
    cachedSize -= size;
  }
  cache.set(key, made);
  return made;
}

/** Why the pattern cannot be used; null if it can. */
export function patternFault(source: string, flags = ""): string | null {
  try {
    compilePattern(source, flags);
    return null;
  } catch (error) {
    if (error instanceof PatternFault) return error.message;
    throw error;
  }
}

/** The flags that are not i, m or s, and repeated ones. */
export function unknownFlags(flags: string): string[] {
  return [...flags].filter((flag, at) => !Object.hasOwn(flagBits, flag) || flags.indexOf(flag) !== at);
}

function compile(source: string, flags: string): Pattern {
  if (source.length > patternMax)
    throw new PatternFault(`A pattern can have at most ${patternMax} characters.`);
  if (unknownFlags(flags).length > 0) throw new PatternFault("Only the flags i, m and s are supported.");
  const bits = [...flags].reduce((sum, flag) => sum | flagBits[flag]!, 0);
  try {
    const program = RE2JS.compile(withPlainEscapes(source), bits);
    const size = program.programSize();
    // A long search leaves a cached automaton of megabytes; the next search rebuilds it.
    const tidy = (text: string) => {
      if (size * text.length > 100_000) program.reset();
    };
    return {
      size,
      occursIn(text) {
        const found = program.test(text);
        tidy(text);
        return found;
      },
      find(text) {
        const matcher = program.matcher(text);
        const found = matcher.find() ? { start: matcher.start(), end: matcher.end() } : null;
        tidy(text);
        return found;
      },
      findAll(text, msMax) {
        const matcher = program.matcher(text);
        const found: { start: number; end: number }[] = [];
        const start = performance.now();
        let isInTime = true;
        while (isInTime && matcher.find()) {
          if (matcher.end() > matcher.start()) found.push({ start: matcher.start(), end: matcher.end() });
          isInTime = performance.now() - start <= msMax;
        }
        tidy(text);
        return isInTime ? found : null;
      },
    };
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) throw new PatternFault(plain(error));
    if (error instanceof RE2JSException) throw new PatternFault("This pattern is too large.");
    throw error;
  }
}

/** Converts JavaScript's Unicode escapes, `\u00e9`, to the engine's syntax. */
export function withPlainEscapes(source: string): string {
  const escapes = /\\(?:u(d[89ab][\da-f]{2})\\u(d[c-f][\da-f]{2})|u\{([\da-f]{1,6})\}|u([\da-f]{4})|.)/gis;
  return source.replace(escapes, (written, high, low, long, short) => {
    if (high) return String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low, 16));
    return long || short ? `\\x{${long ?? short}}` : written;
  });
}

function plain(error: RE2JSSyntaxException): string {
  const part = error.getPattern() ?? "";
  const engine = "patterns run on a linear-time engine, which has none";
  if (/^\(\?<?[=!]/.test(part)) return `Look-around is not supported: ${engine}. Write the check without it.`;
  if (/^\\([1-9]|k)/.test(part))
    return `Back-references are not supported: ${engine}. Write the check without them.`;
  return `This is not a valid pattern: ${error.getDescription()}.`;
}
