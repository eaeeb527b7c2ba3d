// Several patterns in one automaton, which tells in one reading of a text which of them occur.
import { RE2Set } from "re2js";
import { inEngineSyntax, unicodeSpace } from "../model/test-case/pattern-syntax.ts";
import { codeAt, type Text } from "./units.ts";

export type PatternSet = {
  /** The positions of the patterns that occur; null if one reading of the text does not tell. */
  occurring(text: Text): number[] | null;
};

/** Instructions of all patterns together; with more, the automaton is slower than one search for each. */
const sizeMax = 2_000;
/** An automaton of more states is not kept. */
const statesMax = 2_000;

/** Null for patterns that are faster alone. They must be valid. `bytesMax`: of the automaton's states. */
export function compilePatternSet(
  patterns: readonly { source: string; flags: string; size: number }[],
  bytesMax = 64 * 1024 * 1024,
): PatternSet | null {
  const size = patterns.reduce((sum, pattern) => sum + pattern.size, 0);
  if (patterns.length < 3 || size > sizeMax) return null;
  const set = new RE2Set(RE2Set.UNANCHORED, 0, bytesMax);
  for (const { source, flags } of patterns) {
    const written = inEngineSyntax(source, unicodeSpace);
    set.add(flags === "" ? written : `(?${flags})${written}`);
  }
  set.compile();
  const automaton = new Automaton(set.dfa);
  return {
    occurring(text) {
      const occurring = automaton.occurring(text);
      if (automaton.stateCount > statesMax) automaton.clear();
      return occurring;
    },
  };
}

type Dfa = RE2Set["dfa"];
type State = { isMatch: boolean; matchIDs: readonly number[] };

/** In a row: the engine was not yet asked. */
const unknown = -0x8000_0000;
/** What the engine takes the end of a text for, and what it is told at the beginning. */
const [endRune, beginText] = [-1, { context: () => 4 }];

/**
 * The engine's automaton with its transitions in one table, by which a text is read several times as fast. The engine makes
 * states when they are first needed, as it would anyway, within the same memory.
 */
class Automaton {
  readonly #dfa: Dfa;
  /** Of each UTF-16 unit; that of the first half of a character is unknown in every row. */
  readonly #classes = new Uint16Array(65_536);
  readonly #width: number;
  /** A row for each state: by class, where the next row begins, or -1 less that if patterns end there. */
  #table = new Int32Array(0);
  #states: State[] = [];
  readonly #rows = new Map<State, number>();
  #first: State | null = null;

  constructor(dfa: Dfa) {
    this.#dfa = dfa;
    // One more for the end of a text, and one for first halves.
    this.#width = dfa.numClasses + 2;
    for (let unit = 0; unit < 65_536; unit++)
      this.#classes[unit] = isFirstHalf(unit) ? dfa.numClasses + 1 : dfa.runeClass(unit);
  }

  get stateCount(): number {
    return this.#dfa.stateCount;
  }

  clear(): void {
    this.#dfa.clearCache();
    this.#forget();
  }

  /**
   * Null if it would need more than its memory again and again. If the memory does not suffice beside the states of earlier
   * texts, it starts again: what is found does not depend on them.
   */
  occurring(text: Text): number[] | null {
    if (this.#dfa.failed) return null;
    if (this.stateCount > 0) {
      const occurring = this.#read(text, false);
      if (occurring) return occurring;
      this.clear();
    }
    return this.#read(text, true);
  }

  #read(text: Text, mayReset: boolean): number[] | null {
    this.#first ??= this.#dfa.start(beginText, 0) as State | null;
    if (!this.#first) return null;
    const found = new Set<number>();
    const search = { resetPos: -1 };
    const classes = this.#classes;
    const { length } = text;
    let row = this.#rowOf(this.#first);
    for (let at = 0; at <= length; ) {
      const table = this.#table;
      for (; at < length; at++) {
        const next = table[row + classes[codeAt(text, at)]!]!;
        if (next < 0) break;
        row = next;
      }
      const rune = at < length ? runeAt(text, at) : endRune;
      row = this.#next(row, rune, at, search);
      if (row === -1 || (search.resetPos >= 0 && !mayReset)) return null;
      const state = this.#states[row / this.#width]!;
      if (state.isMatch) for (const id of state.matchIDs) found.add(id);
      at += rune > 0xffff ? 2 : 1;
    }
    return Array.from(found).sort((a, b) => a - b);
  }

  /** The row after a character or the end; -1 if the engine gives up. */
  #next(row: number, rune: number, at: number, search: { resetPos: number }): number {
    const kind: number = rune === endRune ? this.#width - 2 : this.#dfa.runeClass(rune);
    const known = this.#table[row + kind]!;
    if (known !== unknown) return known < 0 ? -1 - known : known;
    const { resetPos } = search;
    const state = this.#states[row / this.#width]!;
    const next = this.#dfa.stepOrReset(state, kind, rune, RE2Set.UNANCHORED, at, search) as State | null;
    if (!next) return -1;
    const isReset = search.resetPos !== resetPos;
    if (isReset) this.#forget();
    const nextRow = this.#rowOf(next);
    if (!isReset) this.#table[row + kind] = next.isMatch ? -1 - nextRow : nextRow;
    return nextRow;
  }

  #rowOf(state: State): number {
    let row = this.#rows.get(state);
    if (row !== undefined) return row;
    row = this.#states.length * this.#width;
    if (row + this.#width > this.#table.length) {
      const larger = new Int32Array(Math.max(2 * this.#table.length, 64 * this.#width)).fill(unknown);
      larger.set(this.#table);
      this.#table = larger;
    }
    this.#states.push(state);
    this.#rows.set(state, row);
    return row;
  }

  #forget(): void {
    this.#table = new Int32Array(0);
    this.#states = [];
    this.#rows.clear();
    this.#first = null;
  }
}

function isFirstHalf(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** The character at a position; half of one stands for itself. */
function runeAt(text: Text, at: number): number {
  const unit = codeAt(text, at);
  const second = isFirstHalf(unit) && at + 1 < text.length ? codeAt(text, at + 1) : 0;
  return second >= 0xdc00 && second <= 0xdfff ? 0x1_0000 + (unit - 0xd800) * 0x400 + (second - 0xdc00) : unit;
}
