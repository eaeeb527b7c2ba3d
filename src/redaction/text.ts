// Redacts one text: finds what the rules find, also in JSON that the text contains, and replaces only these places.
import {
  type BuiltInRule,
  builtInRules,
  type PlacesOfRule,
  type RedactedText,
  uncheckedRule,
  uncheckedText,
} from "../model/redaction.ts";
import { BuiltInFinder, lengthMin } from "./find.ts";
import { type Found, withoutOverlaps } from "./found.ts";
import { type JsonText, jsonTextsIn } from "./json-texts.ts";
import type { OwnRules } from "./own-rules.ts";
import { Screen } from "./screen.ts";
import { isSecretKey } from "./secrets.ts";
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

export class TextRedaction {
  readonly names: readonly string[];
  readonly #placeholderOf: readonly string[];
  readonly #builtIn: BuiltInFinder | null;
  /** Null: the own rules need the text. */
  readonly #screen: Screen | null;
  readonly #ownFrom: number;
  readonly #own: OwnRules;
  readonly #units: number;
  /** Shorter texts have nothing that any rule finds. */
  readonly #lengthMin: number;
  readonly #placeholders: RegExp;
  readonly #unitsOf: UnitsOf | undefined;

  constructor(builtIn: readonly BuiltInRule[], own: OwnRules, unitsOf?: UnitsOf) {
    this.#unitsOf = unitsOf;
    this.names = [...builtIn, ...own.names];
    this.#placeholderOf = this.names.map(name => `[${name}]`);
    this.#builtIn = builtIn.length > 0 ? new BuiltInFinder(builtIn) : null;
    this.#screen = own.names.length === 0 ? new Screen(builtIn) : null;
    this.#ownFrom = builtIn.length;
    this.#own = own;
    this.#units = builtIn.length + own.units;
    this.#lengthMin = own.names.length > 0 ? 1 : lengthMin;
    const names = [...builtInRules, ...own.names, uncheckedRule];
    this.#placeholders = new RegExp(`\\[(?:${names.join("|")})\\]`, "g");
  }

  /** Whether any rule searches texts; if not, there are only pseudonyms. */
  get searches(): boolean {
    return this.names.length > 0;
  }

  /**
   * Whether it is seen from the bytes of a text, in UTF-8 and as it is or as JSON writes it, that nothing in it is found. If not,
   * only `find` tells.
   */
  isSeenClean(bytes: Uint8Array, from: number, to: number, key: string): boolean {
    if (!this.searches) return true;
    return this.#screen !== null && !isSecretKey(key) && this.#screen.isClean(bytes, from, to);
  }

  /** `key`: the name of the attribute or field, which may say that the text is a secret. */
  redact(text: string, work: Work, key = ""): RedactedText {
    const found = this.find(text, work, key);
    if (found === null) return unchecked();
    return found.length === 0 ? { text, found: [] } : this.replace(text, found);
  }

  /** By position, without overlaps; null if the text cannot be finished. */
  find(text: string, work: Work, key = ""): Found[] | null {
    if (!this.searches) return [];
    if (!work.spend(text.length * this.#units)) return null;
    try {
      return this.#findIn(text, key, work, levelsMax);
    } catch (error) {
      if (error instanceof Unchecked) return null;
      throw error;
    }
  }

  replace(text: string, found: Found[]): RedactedText {
    const most = 2 * text.length + growthMax;
    const all: PlacesOfRule[] = [];
    const byRule: ([number, number][] | undefined)[] = [];
    let [out, from] = ["", 0];
    for (const { start, end, rule } of found) {
      const placeholder = this.#placeholderOf[rule]!;
      out += text.slice(from, start);
      const at = out.length;
      out += placeholder;
      if (out.length > most) return unchecked();
      let places = byRule[rule];
      if (!places) {
        places = [];
        byRule[rule] = places;
        all.push({ rule: this.names[rule]!, places });
      }
      places.push([at, at + placeholder.length]);
      from = end;
    }
    out += text.slice(from);
    if (out.length > most) return unchecked();
    return { text: out, found: all };
  }

  #findIn(text: string, key: string, work: Work, levels: number): Found[] {
    const inner = levels > 0 ? jsonTextsIn(text, this.#unitsOf) : null;
    if (!inner) return this.#findPlain(text, key, work);
    const found: Found[] = [];
    for (const one of inner)
      if (one.lengthMax >= this.#lengthMin) this.#findInner(one, work, levels - 1, found);
    return found;
  }

  #findInner(one: JsonText, work: Work, levels: number, found: Found[]): void {
    const inner = this.#findIn(one.text, one.key, work, levels);
    // Not spread: there may be more than a call may have arguments.
    for (const { start, end, rule } of inner) found.push({ start: one.at(start), end: one.at(end), rule });
  }

  #findPlain(text: string, key: string, work: Work): Found[] {
    const read = new Text(text, this.#unitsOf);
    // More places than the budget has room for leave the text unchecked, so looking further would be for nothing.
    const found = this.#builtIn ? this.#builtIn.find(read, key, work.left / placeUnits) : [];
    if (!found) throw new Unchecked();
    if (!this.#own.find(read, this.#ownFrom, found, work)) throw new Unchecked();
    if (found.length === 0) return found;
    if (!work.spend(found.length * placeUnits)) throw new Unchecked();
    return withoutOverlaps(text.includes("[") ? this.#besidePlaceholders(text, found) : found);
  }

  /**
   * Without what overlaps a placeholder or touches it: that was redacted before, and what is left of a text that is redacted
   * again must stay as it is. An email is an email after anything.
   */
  #besidePlaceholders(text: string, found: Found[]): Found[] {
    const placeholders = Array.from(text.matchAll(this.#placeholders), match => match.index);
    if (placeholders.length === 0) return found;
    found.sort((a, b) => a.start - b.start);
    const ends = placeholders.map(start => text.indexOf("]", start) + 1);
    let next = 0;
    return found.filter(({ start, end, rule }) => {
      while (next < ends.length && ends[next]! < start) next++;
      if (next === ends.length) return true;
      if (this.names[rule] === "email") return ends[next]! <= start || placeholders[next]! >= end;
      return placeholders[next]! > end;
    });
  }
}

export function unchecked(): RedactedText {
  return { text: uncheckedText, found: [{ rule: uncheckedRule, places: [[0, uncheckedText.length]] }] };
}
