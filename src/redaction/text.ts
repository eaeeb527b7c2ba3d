// Redacts one text: finds what the rules find, also in JSON that the text contains, and replaces only these places.
import {
  addCount,
  type BuiltInRule,
  noCounts,
  placeholderOf,
  placeholders,
  type RuleCounts,
  uncheckedRule,
  uncheckedText,
} from "../model/redaction.ts";
import { BuiltInFinder, lengthMin } from "./find.ts";
import { type Found, withoutOverlaps } from "./found.ts";
import { type JsonText, jsonTextsIn } from "./json-texts.ts";
import type { OwnRules } from "./own-rules.ts";
import { Text, type UnitsOf } from "./units.ts";
import type { Work } from "./work.ts";

/** JSON in JSON is followed this deep, and is text below that. */
const levelsMax = 5;

/** A text grows at most to twice its length and this; beyond, it is left unchecked as a whole. */
const growthMax = 1_000;

/** In units of work: each place. */
const placeUnits = 10;

/** What stands for the texts that no rule could finish. */
export class Unchecked extends Error {}

export type RedactedText = { text: string; counts: Readonly<RuleCounts> };

/** The rules whose placeholders in a text stand for values that were redacted before. */
export type KnownRules = ReadonlySet<string>;

const noRules: KnownRules = new Set();
const nothing: Readonly<RuleCounts> = Object.freeze(noCounts());

export class TextRedaction {
  readonly names: readonly string[];
  /** By rank; behind those of the rules, what stands for the brackets of a placeholder that came with the text. */
  readonly #replacements: readonly string[];
  readonly #builtIn: BuiltInFinder | null;
  readonly #ownFrom: number;
  readonly #own: OwnRules;
  readonly #units: number;
  /** Shorter texts have nothing that any rule finds. */
  readonly #lengthMin: number;
  readonly #unitsOf: UnitsOf | undefined;

  constructor(builtIn: readonly BuiltInRule[], own: OwnRules, unitsOf?: UnitsOf) {
    this.#unitsOf = unitsOf;
    this.names = [...builtIn, ...own.names];
    this.#replacements = [...this.names.map(placeholderOf), "[", "]"];
    this.#builtIn = builtIn.length > 0 ? new BuiltInFinder(builtIn) : null;
    this.#ownFrom = builtIn.length;
    this.#own = own;
    this.#units = builtIn.length + own.units;
    this.#lengthMin = own.names.length > 0 ? 1 : lengthMin;
  }

  /** Whether any rule searches texts; if not, there are only pseudonyms. */
  get searches(): boolean {
    return this.names.length > 0;
  }

  /** `key`: the name of the attribute or field, which may say that the text is a secret. */
  redact(text: string, work: Work, key = "", known = noRules): RedactedText {
    const found = this.find(text, work, key, known);
    if (found === null) return unchecked();
    return found.length === 0 ? { text, counts: nothing } : this.replace(text, found);
  }

  /** By position, without overlaps; null if the text cannot be finished. */
  find(text: string, work: Work, key = "", known = noRules): Found[] | null {
    if (!this.searches || (text === uncheckedText && known.has(uncheckedRule))) return [];
    if (!work.spend(text.length * this.#units)) return null;
    try {
      return this.#findIn(text, key, { work, known }, levelsMax);
    } catch (error) {
      if (error instanceof Unchecked) return null;
      throw error;
    }
  }

  replace(text: string, found: Found[]): RedactedText {
    const most = 2 * text.length + growthMax;
    const counts = noCounts();
    let [out, from] = ["", 0];
    for (const { start, end, rule } of found) {
      out += text.slice(from, start) + this.#replacements[rule]!;
      if (out.length > most) return unchecked();
      const name = this.names[rule];
      if (name !== undefined) addCount(counts, name, 1);
      from = end;
    }
    out += text.slice(from);
    return out.length > most ? unchecked() : { text: out, counts };
  }

  #findIn(text: string, key: string, pass: Pass, levels: number): Found[] {
    const inner = levels > 0 ? jsonTextsIn(text, this.#unitsOf) : null;
    if (!inner) return this.#findPlain(text, key, pass);
    const found: Found[] = [];
    for (const one of inner)
      if (one.lengthMax >= this.#lengthMin) this.#findInner(one, pass, levels - 1, found);
    return found;
  }

  #findInner(one: JsonText, pass: Pass, levels: number, found: Found[]): void {
    const inner = this.#findIn(one.text, one.key, pass, levels);
    // Not spread: there may be more than a call may have arguments.
    for (const { start, end, rule } of inner) found.push({ start: one.at(start), end: one.at(end), rule });
  }

  #findPlain(text: string, key: string, { work, known }: Pass): Found[] {
    const stored: Place[] = [];
    const typed: Found[] = [];
    if (text.includes("⟦")) this.#sortPlaceholders(text, known, stored, typed);
    // What came with the text hides nothing beside it. Brackets are as long, so positions stay.
    const read = new Text(typed.length > 0 ? withBrackets(text, known) : text, this.#unitsOf);
    // More places than the budget has room for leave the text unchecked, so looking further would be for nothing.
    const all = this.#builtIn ? this.#builtIn.find(read, key, work.left / placeUnits) : [];
    if (!all) throw new Unchecked();
    if (!this.#own.find(read, this.#ownFrom, all, work)) throw new Unchecked();
    const found = (stored.length > 0 ? this.#besideStored(all, stored) : all).concat(typed);
    if (found.length === 0) return found;
    if (!work.spend(found.length * placeUnits)) throw new Unchecked();
    return withoutOverlaps(found);
  }

  /** Those that stand for values, and the brackets of those that came with the text. */
  #sortPlaceholders(text: string, known: KnownRules, stored: Place[], typed: Found[]): void {
    const rank = this.names.length;
    for (const { 0: whole, 1: name, index: start } of text.matchAll(placeholders)) {
      const end = start + whole.length;
      if (known.has(name!)) stored.push({ start, end });
      else typed.push({ start, end: start + 1, rule: rank }, { start: end - 1, end, rule: rank + 1 });
    }
  }

  /**
   * Without what overlaps or touches a placeholder that stands for a value: what is left of a text that is redacted again must
   * stay as it is. An email is an email after anything.
   */
  #besideStored(found: Found[], stored: readonly Place[]): Found[] {
    found.sort((a, b) => a.start - b.start);
    let next = 0;
    return found.filter(({ start, end, rule }) => {
      while (next < stored.length && stored[next]!.end < start) next++;
      const one = stored[next];
      if (!one) return true;
      return this.names[rule] === "email" ? one.end <= start || one.start >= end : one.start > end;
    });
  }
}

type Pass = { work: Work; known: KnownRules };
type Place = { start: number; end: number };

function withBrackets(text: string, known: KnownRules): string {
  return text.replace(placeholders, (whole, name: string) => (known.has(name) ? whole : `[${name}]`));
}

export function unchecked(): RedactedText {
  return { text: uncheckedText, counts: { [uncheckedRule]: 1 } };
}
