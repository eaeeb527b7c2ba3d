// Several patterns in one automaton, which tells in one reading of a text which of them occur.
import { RE2Set } from "re2js";
import { withPlainEscapes } from "./pattern.ts";

export type PatternSet = {
  /** The positions of the patterns that occur; null if one reading of the text does not tell. */
  occurring(text: string): number[] | null;
};

/** Instructions of all patterns together; with more, the automaton is slower than one search for each. */
const sizeMax = 2_000;
const bytesMax = 64 * 1024 * 1024;
/** What a state takes beside its instructions, in units of 8 bytes. */
const stateUnits = 300;
/** An automaton of more states is not kept. */
const statesMax = 2_000;

/** Null for patterns that are faster alone. They must be valid. */
export function compilePatternSet(
  patterns: readonly { source: string; flags: string; size: number }[],
): PatternSet | null {
  const size = patterns.reduce((sum, pattern) => sum + pattern.size, 0);
  if (patterns.length < 3 || size > sizeMax) return null;
  const set = new RE2Set(RE2Set.UNANCHORED, 0, bytesMax);
  for (const { source, flags } of patterns) {
    const written = withPlainEscapes(source);
    set.add(flags === "" ? written : `(?${flags})${written}`);
  }
  set.compile();
  // Without it, the set throws where it would simulate all states at once, which takes a hundred times as long.
  set.dummyRe2 = null as never;
  return {
    occurring(text) {
      // In a shorter one the automaton cannot run out of memory twice, which is when it gives up. In a longer one it begins
      // anew, so that what is found does not depend on earlier texts.
      if (text.length * (size + stateUnits) * 8 >= bytesMax) set.dfa.clearCache();
      try {
        return set.match(text);
      } catch (error) {
        if (error instanceof TypeError) return null;
        throw error;
      } finally {
        if (set.dfa.stateCount > statesMax) set.dfa.clearCache();
      }
    },
  };
}
