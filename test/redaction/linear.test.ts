// Redaction reads texts that were made to be slow a limited number of times: counted in characters that are read, not in time.

import assert from "node:assert/strict";
import { test } from "node:test";
import { hostile, proseOf } from "../../bench/redaction/hostile.ts";
import { builtInRules } from "../../src/model/redaction.ts";
import { OwnRules } from "../../src/redaction/own-rules.ts";
import { TextRedaction } from "../../src/redaction/text.ts";
import { ownUnitsOf } from "../../src/redaction/units.ts";
import { Work, workMax } from "../../src/redaction/work.ts";
import { openRedactor } from "../../src/redaction.ts";

/** What scanners and patterns read; long parts of a text count on. */
class CountingText extends String {
  static steps = 0;
  readonly #text: string;

  constructor(text: string) {
    super(text);
    this.#text = text;
  }

  override charCodeAt(at: number): number {
    CountingText.steps++;
    return this.#text.charCodeAt(at);
  }

  override slice(start?: number, end?: number): string {
    const part = this.#text.slice(start, end);
    CountingText.steps += Math.min(part.length, 64);
    return part.length > 64 ? (new CountingText(part) as unknown as string) : part;
  }

  override indexOf(search: string, from = 0): number {
    const found = this.#text.indexOf(search, from);
    CountingText.steps += (found === -1 ? this.length : found) - from;
    return found;
  }

  override startsWith(search: string, from?: number): boolean {
    CountingText.steps += search.length;
    return this.#text.startsWith(search, from);
  }

  /** For a pattern, which reads at most some hundred characters from a position. */
  override toString(): string {
    CountingText.steps += 64;
    return this.#text;
  }
}

/** Reads beyond the margin would give undefined, and make all later ones of a function slow. */
const counting: ProxyHandler<Uint16Array> = {
  get(units, at) {
    if (at === "subarray") {
      return (from: number, to: number) => {
        CountingText.steps += to - from;
        return units.subarray(from, to);
      };
    }
    const unit = units[at as unknown as number];
    if (unit === undefined) throw new Error(`Nothing is at ${String(at)} of ${units.length}.`);
    CountingText.steps++;
    return unit;
  },
};

const builtIn = new TextRedaction(
  builtInRules,
  new OwnRules([]),
  text => new Proxy(ownUnitsOf(text.valueOf()), counting),
);

function stepsOf(text: string, work = workMax): number {
  CountingText.steps = 0;
  builtIn.redact(new CountingText(text) as unknown as string, new Work(work));
  return CountingText.steps;
}

test("a text that is twice as long takes at most twice as many steps, whatever it is", () => {
  for (const [name, make] of Object.entries({ ...hostile, prose: proseOf })) {
    // In shorter ones, the beginnings of JSON are a larger part.
    const size = name === "nested JSON in text" ? 160_000 : 10_000;
    const [short, long] = [stepsOf(make(size)), stepsOf(make(2 * size))];
    assert.ok(short >= 500, `${name}: ${short}`);
    assert.ok(long <= 2.1 * short + 5_000, `${name}: ${short}, then ${long}`);
  }
});

test("no text takes more than 250 steps for each of its characters, of which each look for a pattern counts as 64", () => {
  for (const [name, make] of Object.entries(hostile)) {
    const perCharacter = stepsOf(make(10_000)) / 10_000;
    assert.ok(perCharacter <= 250, `${name}: ${perCharacter}`);
  }
});

test("a text with more places than the budget has room for is read no further than to these", () => {
  const text = hostile["phone numbers"]!(160_000);
  const roomForAll = 160_000 * builtInRules.length + 10_000 * 10;
  const all = stepsOf(text, roomForAll);
  const tenth = stepsOf(text, roomForAll - 90_000);
  assert.ok(tenth < 0.3 * all, `${tenth} of ${all}`);
});

const own = openRedactor(
  {
    builtIn: [],
    rules: [
      ...Array.from({ length: 16 }, (_, at) => ({
        name: `near-${at}`,
        pattern: `[a-z@0-9 ]{8,20}#${at}[A-Z]{2}`,
      })),
      { name: "far", pattern: "a[^b]*b|a" },
      { name: "many-states", pattern: "(?:a|b)*a(?:a|b){12}c" },
      { name: "word", pattern: "\\bjane\\b", flags: "i" },
      { name: "digits", pattern: "\\d{3}-\\d{9}" },
    ],
    pseudonyms: [],
  },
  value => value,
)!;

test("own rules spend the same on the same text, whatever they searched before, and nothing for searches where none occurs", () => {
  const spentOn = (text: string) => {
    const work = new Work(50_000_000);
    const stored = own.text(text, { work });
    return { spent: 50_000_000 - work.left, stored };
  };
  const texts = ["abc 123# ", "bbc jane ", "ab", "aabab", "123-4567 ", "xyz "].map(unit =>
    unit.repeat(2_000),
  );
  const first = texts.map(spentOn);
  assert.deepEqual(texts.toReversed().map(spentOn).toReversed(), first);
  assert.deepEqual(texts.map(spentOn), first);
  // Only asked whether any occurs.
  assert.ok(first[5]!.spent < 100 * texts[5]!.length, String(first[5]!.spent));
  assert.equal(first[1]!.stored.counts["word"], 2_000);
});

test("a search that would look at the rest of the text for each of its places is not finished, after the same work each time", () => {
  const far = openRedactor(
    { builtIn: [], rules: [{ name: "far", pattern: "a[^b]*b|a" }], pseudonyms: [] },
    String,
  )!;
  const text = "a".repeat(100_000);
  const spent = [1, 2].map(() => {
    const work = new Work(50_000_000);
    assert.equal(far.text(text, { work }).text, "[unchecked]");
    return work.left;
  });
  assert.deepEqual(spent, [0, 0]);
  assert.notEqual(far.text("a".repeat(100), { work: new Work(50_000_000) }).text, "[unchecked]");
});
