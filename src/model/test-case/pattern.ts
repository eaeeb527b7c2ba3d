// Regular expressions of test cases, compiled by a linear-time engine; unsupported syntax is refused with a reason.
import { RE2JS, RE2JSException, RE2JSSyntaxException } from "re2js";
import { tellOfWork } from "../work.ts";
import { MeteredText, OutOfSteps } from "./metered-text.ts";
import { searchedPattern } from "./pattern-invisible.ts";
import { inEngineSyntax, unicodeSpace, type WhiteSpace } from "./pattern-syntax.ts";

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
   * Whether it occurs, as far as one reading of a long text tells: null if the engine would have to simulate all states at
   * once. Depends on nothing but the text, so what a search costs does not depend on earlier ones.
   */
  occursAtOnce(text: string): boolean | null;
  /**
   * Everywhere it occurs, without overlaps and empty matches, and how many characters were read: one search is linear in the
   * text, but each may look at all of it again. Null if that would be more than `stepsMax`, or at a time past `deadline`.
   */
  findAll(
    text: string,
    stepsMax: number,
    deadline?: number,
  ): { places: { start: number; end: number }[]; steps: number } | null;
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

/** Of the engine's automaton: the memory it may take, and what a state takes beside its instructions, in units of 8 bytes. */
const automatonBytes = 8_388_608;
const stateUnits = 300;
/** An automaton of more states is not kept. */
const statesMax = 2_000;
/** Up to this many bits, one for each instruction and character, the engine backtracks. */
const bitsMax = 262_144;

function unlessOutOfSteps<T>(search: () => T): T | null {
  try {
    return search();
  } catch (error) {
    if (error instanceof OutOfSteps) return null;
    throw error;
  }
}

/** Compiles the pattern, or returns it from a cache. Throws PatternFault. */
export function compilePattern(source: string, flags = "", space: WhiteSpace = unicodeSpace): Pattern {
  const key = space === unicodeSpace ? `${flags}/${source}` : `ecma/${source}`;
  const known = cache.get(key);
  if (known) return known;
  const made = compile(source, flags, space);
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
    compilePattern(searchedPattern(source).source, flags);
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

function compile(source: string, flags: string, space: WhiteSpace): Pattern {
  if (source.length > patternMax)
    throw new PatternFault(`A pattern can have at most ${patternMax} characters.`);
  if (unknownFlags(flags).length > 0) throw new PatternFault("Only the flags i, m and s are supported.");
  tellOfWork("pattern");
  const bits = [...flags].reduce((sum, flag) => sum | flagBits[flag]!, 0);
  try {
    const program = RE2JS.compile(inEngineSyntax(source, space), bits);
    const size = program.programSize();
    // A long search leaves an automaton of megabytes; the next search rebuilds it.
    const forget = () => {
      program.reset();
      program.re2().lazyDFA = null as never;
    };
    const tidy = (text: string) => {
      if (size * text.length > 100_000) program.reset();
      if (program.re2().lazyDFA?.stateCount > statesMax) forget();
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
      occursAtOnce(text) {
        // In a shorter one the automaton cannot run out of memory twice, which is when it gives up.
        if (text.length * (size + stateUnits) * 8 < automatonBytes) return program.test(text);
        forget();
        const metered = new MeteredText(text, text.length + 2);
        const found = unlessOutOfSteps(() => program.test(metered as unknown as string));
        forget();
        return found;
      },
      findAll(text, stepsMax, deadline = Number.POSITIVE_INFINITY) {
        const metered = new MeteredText(text, stepsMax);
        const matcher = program.matcher(metered as unknown as string);
        // Each search of a short text begins by clearing a bit for each instruction and character.
        const cleared = text.length * size <= bitsMax ? Math.ceil((text.length * size) / 256) : 0;
        const places: { start: number; end: number }[] = [];
        const isDone = unlessOutOfSteps(() => {
          while (matcher.find()) {
            metered.spend(1 + cleared);
            if (matcher.end() > matcher.start()) places.push({ start: matcher.start(), end: matcher.end() });
            if (performance.now() > deadline) return false;
          }
          return true;
        });
        tidy(text);
        return isDone ? { places, steps: stepsMax - metered.left } : null;
      },
    };
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) throw new PatternFault(plain(error));
    if (error instanceof RE2JSException) throw new PatternFault("This pattern is too large.");
    throw error;
  }
}

function plain(error: RE2JSSyntaxException): string {
  const part = error.getPattern() ?? "";
  const engine = "patterns run on a linear-time engine, which has none";
  if (/^\(\?<?[=!]/.test(part)) return `Look-around is not supported: ${engine}. Write the check without it.`;
  if (/^\\([1-9]|k)/.test(part))
    return `Back-references are not supported: ${engine}. Write the check without them.`;
  return `This is not a valid pattern: ${error.getDescription()}.`;
}
