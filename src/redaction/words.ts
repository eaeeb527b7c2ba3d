// Finds words of a list in a text, forward or backward from a position, without regular expressions: a few steps each.
import { codeAt, type Text } from "./units.ts";

/** What a list says of one of its words. */
type Entry<Value> = { value: Value; isAfterBoundary: boolean; isBeforeBoundary: boolean };

/**
 * A tree of the words, ignoring case, that is followed a unit at a time, from 0 to 0.
 */
export class WordTree<Value> {
  /** Of each UTF-16 unit; 0: in no word. */
  readonly #classes = new Uint8Array(65_536);
  readonly #children: Int16Array;
  readonly #classCount: number;
  readonly #entries: (Entry<Value>[] | undefined)[] = [undefined];
  readonly #values: readonly (readonly Value[] | undefined)[];
  readonly #isBackward: boolean;

  /** `words`: in the syntax of `expand`; `\b` may begin or end one. `isBackward`: they are looked for from their ends. */
  constructor(lists: readonly { words: string; value: Value }[], isBackward = false) {
    this.#isBackward = isBackward;
    const all = lists.flatMap(({ words, value }) => expand(words).map(word => ({ word, value })));
    this.#classCount = this.#classify(all.map(({ word }) => word));
    const nodesMax = all.reduce((sum, { word }) => sum + word.length, 1);
    const children = new Int16Array(nodesMax * this.#classCount);
    for (const { word, value } of all) this.#add(children, word, value);
    this.#children = children.slice(0, this.#entries.length * this.#classCount);
    this.#values = this.#entries.map(entries => entries?.map(({ value }) => value));
  }

  /**
   * The values of the words from `from` to `to` that are complete at a node and have the boundaries they need. There is a
   * boundary at `end`, whatever follows.
   */
  endingAt(text: Text, node: number, from: number, to: number, end: number): readonly Value[] {
    const isAfterWord = isWord(codeAt(text, from - 1));
    const isBeforeWord = to < end && isWord(codeAt(text, to));
    if (!isAfterWord && !isBeforeWord) return this.#values[node]!;
    return this.#entries[node]!.filter(
      entry => !(entry.isAfterBoundary && isAfterWord) && !(entry.isBeforeBoundary && isBeforeWord),
    ).map(({ value }) => value);
  }

  /** The node after a unit, from 0 at the beginning (backward: the end) of a word; 0: no word goes on like this. */
  next(node: number, code: number): number {
    return this.#children[node * this.#classCount + this.#classes[code]!]!;
  }

  /** Of the words that are complete at a node, in the order of the lists. */
  valuesOf(node: number): readonly Value[] | undefined {
    return this.#values[node];
  }

  /** Whether a word may begin (backward: end) with this unit. */
  begins(code: number): boolean {
    return this.#children[this.#classes[code]!] !== 0;
  }

  #classify(words: string[]): number {
    let count = 1;
    const known = new Map<string, number>();
    for (const unit of new Set(words.join("").replaceAll(boundary, ""))) {
      for (const half of unit.split("")) {
        const folded = fold(half);
        let own = known.get(folded);
        if (own === undefined) {
          own = count++;
          known.set(folded, own);
        }
        for (const form of new Set([half, folded, half.toLowerCase(), folded.toLowerCase()])) {
          if (form.length === 1 && fold(form) === folded) this.#classes[form.charCodeAt(0)] = own;
        }
      }
    }
    return count;
  }

  #add(children: Int16Array, written: string, value: Value): void {
    const word = written.replaceAll(boundary, "");
    let node = 0;
    for (let at = 0; at < word.length; at++) {
      const unit = this.#classes[word.charCodeAt(this.#isBackward ? word.length - 1 - at : at)]!;
      const place = node * this.#classCount + unit;
      if (children[place] === 0) {
        children[place] = this.#entries.length;
        this.#entries.push(undefined);
      }
      node = children[place]!;
    }
    const entry = {
      value,
      isAfterBoundary: written.startsWith(boundary),
      isBeforeBoundary: written.endsWith(boundary),
    };
    const entries = this.#entries[node];
    if (entries) entries.push(entry);
    else this.#entries[node] = [entry];
  }
}

const boundary = "\b";

/** As regular expressions compare without regard to case: no letter of ASCII is the same as one beyond it. */
function fold(unit: string): string {
  const upper = unit.toUpperCase();
  if (upper.length !== 1 || (unit.charCodeAt(0) >= 128 && upper.charCodeAt(0) < 128)) return unit;
  return upper;
}

function isWord(code: number): boolean {
  const lower = code | 32;
  return (lower >= 97 && lower <= 122) || (code >= 48 && code <= 57) || code === 95;
}

/** All words of a pattern of alternatives, `(?:…)` and `[…]`, each of which a `?` makes optional, and `\b`. */
export function expand(pattern: string): string[] {
  const chars = Array.from(pattern);
  let at = 0;
  const alternatives = (): string[] => {
    const all: string[] = [];
    for (;;) {
      all.push(...sequence());
      if (chars[at] !== "|") return all;
      at++;
    }
  };
  const sequence = (): string[] => {
    let words = [""];
    while (at < chars.length && chars[at] !== "|" && chars[at] !== ")") {
      const next = one();
      words = words.flatMap(word => next.map(more => word + more));
    }
    return words;
  };
  const one = (): string[] => {
    let choices: string[];
    const char = chars[at++]!;
    if (char === "(") {
      at += 2;
      choices = alternatives();
      at++;
    } else if (char === "[") {
      const end = chars.indexOf("]", at);
      choices = chars.slice(at, end);
      at = end + 1;
    } else if (char === "\\") {
      at++;
      choices = [boundary];
    } else choices = [char];
    if (chars[at] === "?") {
      at++;
      choices = [...choices, ""];
    }
    return choices;
  };
  return alternatives();
}
