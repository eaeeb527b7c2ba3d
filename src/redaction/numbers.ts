// Finds payment cards, US social security numbers and phone numbers in groups of digits.

import type { BuiltInRule } from "../model/redaction.ts";
import { isCard, isEan13 } from "./cards.ts";
import { isDigit, isLatin, isLatinOrDigit, isLineEscape } from "./characters.ts";
import { DigitGroups } from "./digit-groups.ts";
import type { Found } from "./found.ts";
import { saysCard, saysSsn, WordsBefore } from "./number-words.ts";
import { formBase, formOf, mayBeLikely, phoneForm } from "./phones.ts";
import type { Ranks } from "./ranks.ts";
import { codeAt, type Text } from "./units.ts";

type NumberKind = Extract<BuiltInRule, "card" | "phone" | "ssn">;

const phoneGroupsMax = 7;
const [phoneDigitsMin, phoneDigitsMax] = [7, 18];
const cardGroupsMax = 6;

/** What was found before, as far as words before a number depend on it. */
type Last = { end: number; isPhone: boolean };

/** The numbers of one text, asked for by increasing positions. */
export class NumberSearch {
  readonly #text: Text;
  readonly #groups = new DigitGroups();
  readonly #words: WordsBefore;
  readonly #ranks: Ranks;
  #found: Found[] = [];
  readonly #last: Last = { end: 0, isPhone: false };

  /** `ranks`: of the rules that are active. */
  constructor(text: Text, ranks: Ranks) {
    this.#text = text;
    this.#words = new WordsBefore(text);
    this.#ranks = ranks;
  }

  /** Adds what begins with the digit or in the groups after it; returns where to look on. */
  at(first: number, found: Found[]): number {
    const groups = this.#groups;
    groups.read(this.#text, first);
    const { count } = groups;
    const end = groups.end[count - 1]!;
    if (count === 1 && groups.size[0]! < 7) return end;
    if (this.#isUuid()) return end;
    this.#words.forget();
    this.#found = found;
    for (let from = 0; from < count; ) {
      const to = this.#mayBegin(from) ? this.#from(from) : from;
      from = to === from ? from + 1 : to;
    }
    return end;
  }

  /** The position after the groups that are something, or `from`. */
  #from(from: number): number {
    const { start, end, size, count } = this.#groups;
    const card = this.#ranks.card !== -1 ? this.#endOfCard(from) : from;
    if (card > from) {
      this.#add("card", start[from]!, end[card - 1]!);
      return card;
    }
    if (this.#ranks.ssn !== -1 && this.#isSsn(from)) {
      const to = size[from] === 9 ? from + 1 : from + 3;
      this.#add("ssn", start[from]!, end[to - 1]!);
      return to;
    }
    if (this.#ranks.phone === -1 || (count - from === 1 && size[from]! < phoneDigitsMin)) return from;
    const to = this.#endOfPhone(from);
    if (to > from) this.#add("phone", this.#startOfPhone(from), endWithExtension(this.#text, end[to - 1]!));
    return to;
  }

  #add(kind: NumberKind, start: number, end: number): void {
    const rule = this.#ranks[kind];
    if (rule !== -1) this.#found.push({ start, end, rule });
  }

  #lastFound(): Last {
    const last = this.#found.at(-1);
    this.#last.end = last?.end ?? 0;
    this.#last.isPhone = last !== undefined && last.rule === this.#ranks.phone;
    return this.#last;
  }

  /** The digits at the end of a UUID, whatever is before them. */
  #isUuid(): boolean {
    const { count, size } = this.#groups;
    return count >= 2 && count <= 5 && size[count - 1]! >= 12 && size[count - 2] === 4;
  }

  #mayBegin(from: number): boolean {
    const text = this.#text;
    const { start, before } = this.#groups;
    if (from > 0) return before[from]!.mayPrecede;
    const lead = before[0]!.text;
    const at = start[0]! - lead.length;
    const previous = codeAt(text, at - 1);
    if (at === 0) return true;
    if (previous === 95 || isDigit(previous)) return false;
    if (isLatin(previous)) return codeAt(text, at - 2) === 92 && isLineEscape(previous);
    if (previous === 36 || previous === 0x20ac || previous === 0xa3 || previous === 37) return false;
    // Attached to a name or a number: 550e8400-e29b, v-12, 0.5
    const isMark = previous === 45 || previous === 46 || previous === 47 || previous === 44;
    if (!isMark) return true;
    const earlier = codeAt(text, at - 2);
    if (previous === 46 || previous === 47) return !isDigit(earlier) && (lead !== "" || previous === 46);
    return !isLatinOrDigit(earlier);
  }

  #mayEnd(to: number): boolean {
    const text = this.#text;
    const { count, before } = this.#groups;
    if (to < count) return before[to]!.mayFollow;
    const end = this.#groups.end[to - 1]!;
    const next = codeAt(text, end);
    if (next === 0) return true;
    if (next === 95 || next === 64 || next === 37 || next === 0x20ac) return false;
    if (isLatin(next)) return (next | 32) === 120 && /^x ?\d{1,5}\b/i.test(text.slice(end, end + 8));
    const after = codeAt(text, end + 1);
    if (next === 58 || next === 44) return !isDigit(after);
    return !(next === 45 || next === 46) || !isLatinOrDigit(after) || (next === 46 && isLatin(after));
  }

  #endOfCard(from: number): number {
    const groups = this.#groups;
    if (groups.size[from]! < 4) return from;
    const most = Math.min(groups.count, from + cardGroupsMax);
    for (let at = from; at < most; at++) {
      if (at > from && !groups.before[at]!.isCard) break;
      const count = groups.digitCount(from, at + 1);
      if (count > 19) break;
      if (count < 13) continue;
      const first = groups.from[from]!;
      const { digits } = groups;
      if (at > from && !cardForms.has(formOf(groups, from, at + 1))) continue;
      if (!isCard(digits, first, count) || !this.#mayEnd(at + 1)) continue;
      if (isEan13(digits, first, count) && !saysCard(this.#text, groups.start[from]!, this.#lastFound().end))
        continue;
      return at + 1;
    }
    return from;
  }

  #isSsn(from: number): boolean {
    const text = this.#text;
    const { size, start, count, before, digits, from: offsets } = this.#groups;
    const isWhole = size[from] === 9;
    if (!isWhole && !(count - from >= 3 && size[from] === 3 && size[from + 1] === 2 && size[from + 2] === 4))
      return false;
    if (!isSsnRange(digits, offsets[from]!)) return false;
    const since = this.#lastFound().end;
    if (isWhole) return this.#mayEnd(from + 1) && saysSsn(text, start[from]!, since);
    const gap = before[from + 1]!;
    if (gap !== before[from + 2] || !this.#mayEnd(from + 3)) return false;
    if (!gap.isHyphen && gap.text !== " ") return false;
    return saysSsn(text, start[from]!, since) || (gap.isHyphen && this.#saidAt(start[from]!) === 0);
  }

  /** The longest that is a phone number. */
  #endOfPhone(from: number): number {
    const groups = this.#groups;
    const { size, before, digits } = groups;
    const isPlus = before[from]!.hasPlus;
    // Deep in a list of numbers, only what looks like the beginning of one.
    if (from > 2 && size[from]! < 3 && digits[groups.from[from]!] !== 0 && before[from]!.text === " ")
      return from;
    let to = from;
    let count = 0;
    let form = 0;
    const most = Math.min(groups.count, from + phoneGroupsMax);
    while (to < most && count + size[to]! <= phoneDigitsMax) {
      if (to > from && before[to]!.hasPlus) break;
      form = form * formBase + size[to]!;
      count += size[to++]!;
    }
    if (count < phoneDigitsMin) return from;
    let said: -1 | 0 | 1 = 0;
    if (!isPlus) {
      said = this.#saidAt(groups.start[from]! - before[from]!.text.length);
      if (said === -1) return from;
    }
    const isAny = isPlus || said === 1;
    while (to > from && count >= phoneDigitsMin) {
      if ((isAny || mayBeLikely(groups, from, form)) && this.#isPhone(from, to, said === 1)) return to;
      count -= size[--to]!;
      form = (form / formBase) | 0;
    }
    return from;
  }

  #isPhone(from: number, to: number, isSaid: boolean): boolean {
    const form = phoneForm(this.#groups, from, to, isSaid);
    if (form === null || !this.#mayEnd(to) || isMoney(this.#text, this.#groups.end[to - 1]!)) return false;
    return form !== "possible" || isSaid;
  }

  #saidAt(start: number): -1 | 0 | 1 {
    const { end, isPhone } = this.#lastFound();
    return this.#words.at(start, end, isPhone);
  }

  #startOfPhone(from: number): number {
    return this.#groups.start[from]! - this.#groups.before[from]!.leadLength;
  }
}

/** Not 000, 666 or 900 and above, not 00, not 0000. */
function isSsnRange(digits: Uint8Array, at: number): boolean {
  const area = digits[at]! * 100 + digits[at + 1]! * 10 + digits[at + 2]!;
  if (area === 0 || area === 666 || area >= 900) return false;
  if (digits[at + 3]! + digits[at + 4]! === 0) return false;
  return digits[at + 5]! + digits[at + 6]! + digits[at + 7]! + digits[at + 8]! > 0;
}

/** How many digits the groups of a card have, packed as `formOf` does. */
const cardForms: ReadonlySet<number> = new Set(
  (
    "4-4-4-1 4-4-4-2 4-4-4-3 4-4-4-4 4-4-4-4-1 4-4-4-4-2 4-4-4-4-3 4-6-4 4-6-5 4-4-5 8-8 4-12 6-10 6-11 6-12 6-13 " +
    "4-4-8 4-5-6"
  )
    .split(" ")
    .map(form => form.split("-").reduce((sum, size) => sum * formBase + Number(size), 0)),
);

const money =
  /^\s?(?:€|\$|£|¥|zł|руб|₽|元|円|원|%|(?:EUR|USD|GBP|CHF|PLN|km|kg|MB|KB|GB|ms|bytes|tokens)(?!\p{L}))/u;
const moneyBegins: ReadonlySet<number> = new Set(
  Array.from("€$£¥EUGCPzр₽元円원%kMKmbt", char => char.charCodeAt(0)),
);

function isMoney(text: Text, end: number): boolean {
  const next = codeAt(text, end);
  const isBlank = next <= 32 || next === 0xa0 || next === 0x202f || next === 0x2009;
  if (!moneyBegins.has(isBlank ? codeAt(text, end + 1) : next)) return false;
  return money.test(text.slice(end, end + 8));
}

const extension = /^,? ?(?:ext\.?|x|extension|durchwahl|dw\.?|poste|int\.?|доб\.?|内线|内線) ?\d{1,5}(?!\d)/i;
const extensionBegins: ReadonlySet<number> = new Set(
  Array.from("exdpiд内EXDPIД", char => char.charCodeAt(0)),
);

/** With ` ext. 12` or ` x12`. */
function endWithExtension(text: Text, end: number): number {
  let at = end;
  if (codeAt(text, at) === 44) at++;
  if (codeAt(text, at) === 32) at++;
  if (!extensionBegins.has(codeAt(text, at))) return end;
  const found = extension.exec(text.slice(end, end + 20));
  return found ? end + found[0].length : end;
}
