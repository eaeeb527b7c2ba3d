// Finds what the built-in rules find in one text without JSON: one loop, which stops only at characters that may begin something.
import type { BuiltInRule } from "../model/redaction.ts";
import type { Scan } from "./context.ts";
import type { Found } from "./found.ts";
import { secretIn } from "./secrets.ts";
import { type Row, table } from "./table.ts";
import { codeAt, type Text } from "./units.ts";

/** No rule finds anything shorter. */
export const lengthMin = 3;

/** Of each UTF-16 unit: a number below 256, which is 0 for those in no anchor. */
const classes = new Uint8Array(65_536);
{
  let count = 0;
  for (const { anchors } of table) {
    for (const char of anchors.flat().join("")) {
      const code = char.charCodeAt(0);
      if (classes[code] === 0) classes[code] = ++count;
    }
  }
}

export class BuiltInFinder {
  readonly #active: readonly BuiltInRule[];
  /** By the classes of two characters side by side: the position of their rows below; 0: no row is looked for there. */
  readonly #kinds = new Uint16Array(65_536);
  readonly #rows: (readonly Row[])[] = [[]];

  constructor(active: readonly BuiltInRule[]) {
    this.#active = active;
    const byPair = new Map<number, Row[]>();
    for (const row of table) {
      if (!row.rules.some(rule => active.includes(rule))) continue;
      for (const pair of pairsOf(row)) byPair.set(pair, [...(byPair.get(pair) ?? []), row]);
    }
    const known = new Map<string, number>();
    for (const [pair, rows] of byPair) {
      const name = rows.map(row => table.indexOf(row)).join();
      let kind = known.get(name);
      if (kind === undefined) {
        kind = this.#rows.push(rows) - 1;
        known.set(name, kind);
      }
      this.#kinds[pair] = kind;
    }
  }

  /** `key`: of the field that the text is in. Null once more than `most` are found. Linear in the text, whatever it is. */
  find(text: Text, key: string, most: number): Found[] | null {
    const { length, string } = text;
    if (length < lengthMin) return [];
    const found: Found[] = [];
    const scan: Scan = { text: string, from: 0, isAfterPhone: false, secretEnd: 0 };
    const whole = key !== "" && this.#active.includes("secret") ? secretIn(string, key) : null;
    if (whole) found.push({ ...whole, rule: this.#active.indexOf("secret") });
    const kinds = this.#kinds;
    for (let at = 0; at < length; ) {
      let own = classes[codeAt(text, at)]!;
      let kind = 0;
      while (at < length) {
        const next = classes[codeAt(text, at + 1)]!;
        kind = kinds[(own << 8) | next]!;
        if (kind !== 0) break;
        own = next;
        at++;
      }
      if (kind === 0) break;
      at = this.#at(at, kind, text, scan, found);
      if (found.length > most) return null;
    }
    return found;
  }

  /** Returns where to look on. */
  #at(at: number, kind: number, text: Text, scan: Scan, found: Found[]): number {
    for (const row of this.#rows[kind]!) {
      if (row.isOpen && at < scan.secretEnd) continue;
      if (row.third !== undefined && !row.third.includes(scan.text[at + 2] ?? "\0")) continue;
      row.pattern.lastIndex = at;
      if (!row.pattern.test(scan.text)) continue;
      const finding = row.validate(scan, at, row.pattern.lastIndex);
      if (finding === null) continue;
      if (typeof finding === "number") return finding;
      const { rule, start, end } = finding;
      const rank = this.#active.indexOf(rule);
      if (rank !== -1) found.push({ start, end, rule: rank });
      if (row.isOpen) {
        scan.secretEnd = end;
        return at + 1;
      }
      scan.from = end;
      scan.isAfterPhone = rule === "phone";
      return Math.max(end, at + 1);
    }
    let next = at + 1;
    if (isDigit(codeAt(text, at))) while (isDigit(codeAt(text, next))) next++;
    return next;
  }
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function* pairsOf({ anchors }: Row): Generator<number> {
  for (const [first, second] of anchors) {
    for (let at = 0; at < first.length; at++) {
      const row = classes[first.charCodeAt(at)]! << 8;
      if (second === null || second[0] === "^") {
        const not = new Set(Array.from(second ?? "", char => classes[char.charCodeAt(0)]).filter(Boolean));
        for (let any = 0; any < 256; any++) if (!not.has(any)) yield row | any;
      }
      if (second !== null && second[0] !== "^")
        for (let to = 0; to < second.length; to++) yield row | classes[second.charCodeAt(to)]!;
    }
  }
}
