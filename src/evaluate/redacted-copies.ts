// Finds the redacted places in what checks copy of a trace: values, matches and quotations; and in what the judge says.

import { parseJson, ValueAllowance } from "../model/json-text.ts";
import { step } from "../model/path.ts";
import type { Place, PlacesOfRule } from "../model/redaction.ts";
import type { Check, Match, RedactedCopy, SemanticActual } from "../model/run/run.ts";
import type { TestCase } from "../model/test-case/document.ts";
import type { Derived, Span } from "../model/trace/trace.ts";
import { unmark } from "../reading/marks.ts";
import { attributeOf, spanText } from "../reading/span/conversation.ts";
import { placesOf } from "./redacted.ts";
import { RedactedWords } from "./redacted-words.ts";

/** The trace as checks read it, with marks around its redacted places. */
export type Twin = { spans: readonly Span[]; derived: Derived };

type Looked = { spanId: string; attribute: string | null };
type Text = { text: string; redactions: PlacesOfRule[] };

/** JSON in text is followed as deep as redaction follows it. */
const levelsMax = 5;
/** Of all texts of a span; what is beyond has no marks. */
const charsMax = 2_000_000;
/** Of a passage in a text; of more, those after are taken to be like these. */
const repeatsMax = 1_000;

/**
 * `spans`: of the trace. `rules`: those that redacted something. The twin is asked for only if a text contains what stands
 * for a value.
 */
export class RedactedCopies {
  readonly #spans: readonly Span[];
  readonly #rules: string[];
  readonly #twinOf: () => Twin | null;
  #twin: Twin | null | undefined;
  #words: RedactedWords | null | undefined;
  readonly #texts = new Map<string, Text[]>();

  constructor(spans: readonly Span[], rules: string[], twinOf: () => Twin | null) {
    this.#spans = spans;
    this.#rules = rules;
    this.#twinOf = twinOf;
  }

  /** The check with the places in its texts; the same one if there are none. `test`: that it belongs to. */
  marked(check: Check, test: Pick<TestCase, "scenario" | "assertions">): Check {
    const copies = [...this.#inCopies(check), ...this.#inComments(check, test)];
    return copies.length === 0 ? check : { ...check, redactions: copies };
  }

  /** What is given, with the places in its reason; the same if there are none. */
  markedReason<T extends { reason?: string; redactions?: RedactedCopy[] }>(
    given: T,
    test: Pick<TestCase, "scenario" | "assertions">,
    withheld: string[] = [],
  ): T {
    const found = this.#inWords(given.reason ?? "", test, withheld);
    if (found.length === 0) return given;
    return { ...given, redactions: found.map(one => ({ path: "reason", ...one })) };
  }

  /** The places in the judge's own words about the trace. */
  #inWords(
    words: string,
    test: Pick<TestCase, "scenario" | "assertions">,
    withheld: readonly string[],
  ): PlacesOfRule[] {
    if (placesOf([...this.#rules, ...withheld], words).length === 0) return [];
    if (this.#words === undefined) {
      const spans = this.#rules.length === 0 ? this.#spans : this.#markedTwin()?.spans;
      this.#words = spans ? new RedactedWords(spans, this.#rules) : null;
    }
    return this.#words?.in(words, withheld, JSON.stringify([test.scenario, test.assertions])) ?? [];
  }

  /** The sentence of a reason has the judge's comment, too. */
  #inComments(check: Check, test: Pick<TestCase, "scenario" | "assertions">): RedactedCopy[] {
    if (check.type !== "semantic") return [];
    const { criteria = [], withheld } = (check.actual ?? {}) as Partial<SemanticActual>;
    const comment = check.reasonData?.comment;
    const words: [path: string, text: string][] = criteria.map(({ reason }, at) => [
      `actual.criteria[${at}].reason`,
      reason,
    ]);
    if (typeof comment === "string") words.push(["reason", check.reason], ["reasonData.comment", comment]);
    return words.flatMap(([path, text]) =>
      this.#inWords(text, test, withheld?.rules ?? []).map(found => ({ path, ...found })),
    );
  }

  #inCopies(check: Check): RedactedCopy[] {
    if (this.#rules.length === 0) return [];
    const { evidence, actual, match } = check;
    return [
      ...evidence.flatMap((place, at) => this.#inValue(place.value, `evidence[${at}].value`, [place])),
      ...(check.type === "semantic"
        ? this.#inQuotes(actual, evidence)
        : this.#inValue(match ? null : actual, "actual", evidence)),
      ...(match ? this.#inMatch(match, evidence) : []),
    ];
  }

  #inValue(value: unknown, path: string, looked: Looked[]): RedactedCopy[] {
    if (typeof value === "string") {
      return this.#find(value, looked, "start").map(found => ({ path, ...found }));
    }
    if (typeof value !== "object" || value === null || !this.#mayHave(value)) return [];
    for (const place of looked) {
      for (const twin of this.#structuresAt(place)) {
        const found = inStructure(value, twin, path);
        if (found) return found;
      }
    }
    return entriesOf(value).flatMap(([key, item]) => this.#inValue(item, path + step(key), looked));
  }

  #mayHave(value: object): boolean {
    return entriesOf(value).some(([, item]) =>
      typeof item === "string"
        ? placesOf(this.#rules, item).length > 0
        : typeof item === "object" && item !== null && this.#mayHave(item),
    );
  }

  #inQuotes(actual: unknown, evidence: Looked[]): RedactedCopy[] {
    const { criteria = [] } = (actual ?? {}) as Partial<SemanticActual>;
    return criteria.flatMap(({ evidence: words, quotes = [] }, at) => {
      const path = `actual.criteria[${at}]`;
      return [
        ...this.#inPassage(words, `${path}.evidence`, evidence),
        ...quotes.flatMap(({ text, spanId, attribute }, index) =>
          spanId === null
            ? []
            : this.#inPassage(text, `${path}.quotes[${index}].text`, [{ spanId, attribute }]),
        ),
      ];
    });
  }

  #inPassage(text: string, path: string, looked: Looked[]): RedactedCopy[] {
    return this.#find(text, looked, "anywhere").map(found => ({ path, ...found }));
  }

  /** The passage is looked for as a whole: its parts alone may occur elsewhere. */
  #inMatch({ before, text, after }: Match, evidence: Looked[]): RedactedCopy[] {
    const parts = { before, text, after };
    const found = this.#find(before + text + after, evidence, "anywhere");
    let from = 0;
    return Object.entries(parts).flatMap(([name, part]) => {
      const inPart = found.flatMap(({ rule, places }): RedactedCopy[] => {
        const inside = shifted(places, -from).filter(([start, end]) => start >= 0 && end <= part.length);
        return inside.length === 0 ? [] : [{ path: `match.${name}`, rule, places: inside }];
      });
      from += part.length;
      return inPart;
    });
  }

  /**
   * The first text of the places looked at that has the copy says where it was redacted. Values are copied from their
   * start, passages from anywhere.
   */
  #find(copy: string, looked: Looked[], from: "start" | "anywhere"): PlacesOfRule[] {
    if (placesOf(this.#rules, copy).length === 0) return [];
    const cut = copy.startsWith("…") ? 1 : 0;
    const core = copy.slice(cut, copy.endsWith("…") ? -1 : undefined);
    for (const place of looked) {
      for (const { text, redactions } of this.#textsAt(place)) {
        const isStart = text === copy || (copy.endsWith("…") && text.startsWith(core));
        const starts = from === "anywhere" ? startsOf(core, text) : isStart ? [0] : [];
        if (starts.length > 0) return inAllCopies(core.length, starts, redactions, cut);
      }
    }
    return [];
  }

  #markedTwin(): Twin | null {
    if (this.#twin === undefined) this.#twin = this.#twinOf();
    return this.#twin;
  }

  /** Lists and objects with marks. */
  #structuresAt({ spanId, attribute }: Looked): object[] {
    const twin = this.#markedTwin();
    if (!twin || attribute === null) return [];
    const { spans, derived } = twin;
    const span = spans.find(one => one.span_id === spanId);
    const value = span && attributeOf(span, attribute);
    const parsed = typeof value === "string" ? parseJson(value, new ValueAllowance()) : value;
    const calls = derived.toolCalls.filter(call => call.spanId === spanId);
    return [parsed, ...calls.map(call => call.arguments)].filter(
      one => typeof one === "object" && one !== null,
    );
  }

  /** Those of the attribute first. */
  #textsAt({ spanId, attribute }: Looked): Text[] {
    const key = `${attribute} ${spanId}`;
    let texts = this.#texts.get(key);
    if (!texts) {
      const twin = this.#markedTwin();
      texts = twin ? textsOf(twin, { spanId, attribute }) : [];
      this.#texts.set(key, texts);
    }
    return texts;
  }
}

const entriesOf = (value: object): [string | number, unknown][] =>
  Array.isArray(value) ? value.map((item, at) => [at, item]) : Object.entries(value);

function startsOf(part: string, text: string): number[] {
  const starts: number[] = [];
  for (let at = text.indexOf(part); at >= 0 && starts.length < repeatsMax; at = text.indexOf(part, at + 1)) {
    starts.push(at);
  }
  return starts;
}

/** Which repetition of a passage was copied is not known, so a place counts if each of them was redacted there. */
function inAllCopies(
  length: number,
  starts: number[],
  redactions: PlacesOfRule[],
  cut: number,
): PlacesOfRule[] {
  return redactions.flatMap(({ rule, places }) => {
    const [first = [], ...others] = starts.map(at =>
      shifted(
        places.filter(([start, end]) => start >= at && end <= at + length),
        cut - at,
      ),
    );
    const inAll = first.filter(([from]) => others.every(other => other.some(([start]) => start === from)));
    return inAll.length === 0 ? [] : [{ rule, places: inAll }];
  });
}

/** The places in the texts of a copy, each told by its twin; undefined if the twin is that of another value. */
function inStructure(value: unknown, twin: unknown, path: string): RedactedCopy[] | undefined {
  if (typeof value === "string") {
    if (typeof twin !== "string") return undefined;
    const { text, redactions } = unmark(twin);
    return text === value ? redactions.map(found => ({ path, ...found })) : undefined;
  }
  if (typeof value !== "object" || value === null) return value === twin ? [] : undefined;
  if (typeof twin !== "object" || twin === null) return undefined;
  const copies: RedactedCopy[] = [];
  for (const [key, item] of entriesOf(value)) {
    const found = inStructure(item, (twin as Record<PropertyKey, unknown>)[key], path + step(key));
    if (!found) return undefined;
    copies.push(...found);
  }
  return copies;
}

function textsOf({ spans, derived }: Twin, { spanId, attribute }: Looked): Text[] {
  const span = spans.find(one => one.span_id === spanId);
  const found = [derived.judgedText, derived.responseText, derived.userInput].filter(
    one => one?.spanId === spanId,
  );
  const texts: string[] = [];
  const add = adderTo(texts);
  const ofAttribute = span && attribute !== null ? attributeOf(span, attribute) : undefined;
  // Pieced together of parts, some are in no single one.
  for (const one of found) if (one?.attribute === attribute) add(one.text, 0);
  if (typeof ofAttribute === "object") add(JSON.stringify(ofAttribute), 0);
  add(ofAttribute, levelsMax);
  for (const one of found) add(one?.text, 0);
  for (const call of derived.toolCalls) {
    if (call.spanId !== spanId) continue;
    add(call.arguments, levelsMax);
    add(JSON.stringify(call.arguments), 0);
  }
  if (span) {
    add(spanText(span)?.text, 0);
    add(span.attributes, levelsMax);
  }
  return texts.map(unmark);
}

function adderTo(texts: string[]): (value: unknown, levels: number) => void {
  const allowance = new ValueAllowance();
  let left = charsMax;
  const add = (value: unknown, levels: number): void => {
    if (typeof value === "string") {
      left -= value.length;
      if (left < 0) return;
      texts.push(value);
      if (levels > 0 && /^\s*[[{"]/.test(value)) add(parseJson(value, allowance), levels - 1);
    } else if (typeof value === "object" && value !== null) {
      for (const item of Object.values(value)) add(item, levels);
    }
  };
  return add;
}

function shifted(places: readonly Place[], by: number): Place[] {
  return places.map(([start, end]): Place => [start + by, end + by]);
}
