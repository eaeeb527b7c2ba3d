// A trace as the checks look at it: what several of them need is worked out once, and only when one asks.

import { parseJson, ValueAllowance } from "../model/json-text.ts";
import { placesOf, type RedactedPlace, rulesOf } from "../model/redaction.ts";
import { RunBudget } from "../model/run/budget.ts";
import { receivedAttributes } from "../model/run/received.ts";
import type { Evidence } from "../model/run/run.ts";
import type { Assertion } from "../model/test-case/assertion.ts";
import {
  type Derived,
  type FoundText,
  type MergedTrace,
  observedMark,
  type Span,
  type ToolCall,
} from "../model/trace/trace.ts";
import { attributeOf, spanText, toolNameOf } from "../reading/span/conversation.ts";
import { usageKeys } from "../reading/span/usage-keys.ts";
import { wholeNumber } from "../reading/span/whole-number.ts";
import { placeOf } from "./evidence.ts";
import { evidenceMax } from "./excerpt.ts";
import type { Finding } from "./finding.ts";
import { mayBeAnyJson, type Unknown } from "./redacted.ts";
import { translatedSpans } from "./sources.ts";

/** `name` is without case. */
type Node = { span: Span; name: string };

// Measured in steps of 50 ns: searching a name takes a step for 64 characters, parsing JSON one for 6.
const charsPerSearchStep = 64;
const charsPerParseStep = 6;

export class TraceView {
  readonly spans: Span[];
  readonly derived: Derived;
  /** Shared by all checks of the evaluation. */
  readonly budget: RunBudget;
  /** What checks found that need not be compared again. */
  readonly findings = new Map<Assertion, Finding>();
  /** Each turn for itself, where the trace is joined of several; null for any other trace. */
  readonly turns: TraceView[] | null;
  /** If it is a turn of such a trace, the turns before it. */
  readonly earlier: TraceView[];
  /** Whether it, or one of its turns, was made of what was seen from outside: of what the agent did, nothing shows. */
  readonly isObserved: boolean;
  readonly received: MergedTrace["received"];
  /** Set where the trace, or one of its turns, is without content. */
  readonly content: MergedTrace["content"];
  /** The privacy rules that redacted something in it. */
  readonly redacted: string[];
  /** The spans that conventions translated, by id. */
  readonly translated: ReadonlyMap<string, Span>;
  #all: Node[] | undefined;
  #nodes: Node[] | undefined;
  #nameChars = 0;
  readonly #spansNamed = new Map<string, Span[]>();
  readonly #nodesNamed = new Map<string, Span[]>();
  readonly #texts = new Map<Span, FoundText | null>();
  readonly #parsed = new Map<string, Map<Span, unknown>>();
  readonly #printed = new Map<string, Map<Span, string>>();
  readonly #places = new Map<string, Evidence[]>();
  #toolCalls: Map<string, ToolCall[]> | undefined;
  readonly #redactedNumbers = new Map<string, RedactedPlace[]>();
  #byId: Map<string, Span> | undefined;
  #allowance = new ValueAllowance();

  constructor(
    trace: MergedTrace,
    derived: Derived,
    budget: RunBudget = new RunBudget(),
    earlier: TraceView[] = [],
  ) {
    this.spans = trace.spans;
    this.derived = derived;
    this.budget = budget;
    this.received = trace.received;
    this.content = trace.content;
    this.earlier = earlier;
    this.translated = translatedSpans(trace.spans);
    this.redacted = rulesOf(trace.redactions);
    const turns: TraceView[] = [];
    for (const turn of trace.turns ?? []) {
      turns.push(new TraceView(turn.trace, turn.derived, budget, [...turns]));
    }
    this.turns = trace.turns ? turns : null;
    this.isObserved = this.turns
      ? this.turns.some(turn => turn.isObserved)
      : trace.metadata?.[observedMark] === true;
  }

  /** The spans that are no tool calls. */
  get nodes(): Span[] {
    return this.#everyNode.map(({ span }) => span);
  }

  /** Those of `nodes` whose name contains the wanted one, ignoring case. */
  nodesNamed(wanted: string): Span[] {
    return this.#search(this.#nodesNamed, this.#everyNode, wanted);
  }

  /** The spans whose name contains the target, ignoring case; tool calls among them. */
  spansNamed(target: string): Span[] {
    return this.#search(this.#spansNamed, this.#everySpan, target);
  }

  #search(known: Map<string, Span[]>, nodes: Node[], name: string): Span[] {
    const wanted = withoutCase(name);
    let found = known.get(wanted);
    if (!found) {
      this.budget.spend(nodes.length + Math.ceil(this.#nameChars / charsPerSearchStep));
      found = nodes.filter(node => node.name.includes(wanted)).map(({ span }) => span);
      known.set(wanted, found);
    }
    return found;
  }

  /** The texts of the spans that the target names. */
  textsNamed(target: string): FoundText[] {
    const spans = this.spansNamed(target);
    this.budget.spend(spans.length);
    return spans.flatMap(span => this.textOf(span) ?? []);
  }

  /** The text of a span, as text checks read it. */
  textOf(span: Span): FoundText | null {
    let text = this.#texts.get(span);
    if (text === undefined) {
      const messages = attributeOf(span, "gen_ai.output.messages");
      if (typeof messages === "string") this.budget.spend(Math.ceil(messages.length / charsPerParseStep));
      text = spanText(span);
      this.#texts.set(span, text);
    }
    return text;
  }

  /** An attribute's text parsed as JSON; undefined if it is none. What was parsed before is dropped if it is too much to keep. */
  parsed(span: Span, field: string, text: string): unknown {
    return cached(this.#parsed, field, span, () => {
      this.budget.spend(Math.ceil(text.length / charsPerParseStep));
      const parsed = parseJson(text, this.#allowance);
      if (!this.#allowance.exceeded) return parsed;
      for (const known of this.#parsed.values()) known.clear();
      this.#allowance = new ValueAllowance();
      return parseJson(text, this.#allowance);
    });
  }

  /** An attribute as JSON text. A string is taken as JSON already. */
  printed(span: Span, field: string): string {
    const value = attributeOf(span, field);
    return typeof value === "string"
      ? value
      : cached(this.#printed, field, span, () => {
          const text = JSON.stringify(value);
          this.budget.spend(Math.ceil(text.length / charsPerParseStep));
          return text;
        });
  }

  /** Where privacy rules changed a text. */
  redactedIn(text: string): RedactedPlace[] {
    if (this.redacted.length === 0) return [];
    this.budget.spend(Math.ceil(text.length / charsPerSearchStep));
    return placesOf(this.redacted, text);
  }

  /** Where they changed an attribute; places are those of its JSON text, unless it is a text. */
  redactedAt(span: Span, field: string): RedactedPlace[] {
    return this.redacted.length === 0 ? [] : this.redactedIn(this.printed(span, field));
  }

  /**
   * What they changed in a trace-wide number that was sent as text: on the root, which comes first, or on the spans that count
   * where the root has no number.
   */
  redactedNumber(attribute: string): RedactedPlace[] {
    if (this.redacted.length === 0) return [];
    if (this.turns) return this.turns.flatMap(turn => turn.redactedNumber(attribute));
    const known = this.#redactedNumbers.get(attribute) ?? this.#findRedactedNumber(attribute);
    this.#redactedNumbers.set(attribute, known);
    return known;
  }

  #findRedactedNumber(attribute: string): RedactedPlace[] {
    this.budget.spend(this.spans.length);
    const root = this.spans.find(span => span.span_id === this.derived.rootSpanId);
    if (root && wholeNumber(root, attribute) !== null) return [];
    return this.spans.flatMap(span => {
      const text = attributeOf(span, attribute);
      const places = typeof text === "string" ? this.redactedIn(text) : [];
      return typeof text === "string" && mayBeAnyJson(text, places) ? places : [];
    });
  }

  /** The texts that they changed; undefined if they changed none. */
  unknown(as: boolean): Unknown | undefined {
    return this.redacted.length === 0 ? undefined : { isIn: text => this.redactedIn(text).length > 0, as };
  }

  spanOf({ spanId }: Pick<ToolCall, "spanId">): Span | undefined {
    this.#byId ??= new Map(this.spans.map(span => [span.span_id, span]));
    return this.#byId.get(spanId);
  }

  /** The calls of a tool, in their order. */
  callsOf(tool: string): ToolCall[] {
    return this.#callsByTool.get(tool) ?? [];
  }

  /** The names of the tools that were called, in the order of their first calls. */
  get toolNames(): string[] {
    return [...this.#callsByTool.keys()];
  }

  get #callsByTool(): Map<string, ToolCall[]> {
    this.#toolCalls ??= Map.groupBy(this.derived.toolCalls, call => call.name);
    return this.#toolCalls;
  }

  /**
   * Where a trace-wide attribute was read: tokens on the spans that count, others on the root if it has the attribute, else on
   * the other spans that have it.
   */
  placesOf(attribute: string): Evidence[] {
    let places = this.#places.get(attribute);
    if (!places) {
      const holders = this.spans.filter(span => attributeOf(span, attribute) !== undefined);
      const { rootSpanId } = this.derived;
      const ids = this.#countedIn(attribute);
      // A redacted number might have counted, unless the root's does.
      const mayCount = (span: Span) =>
        ids.has(span.span_id) || (!ids.has(rootSpanId ?? "") && this.redactedAt(span, attribute).length > 0);
      const counted = ids.size > 0 ? holders.filter(mayCount) : [];
      const onRoot = holders.find(span => span.span_id === rootSpanId);
      places = (counted.length > 0 ? counted : onRoot ? [onRoot] : holders)
        .slice(0, evidenceMax)
        .map(span => placeOf(span, attribute));
      this.#places.set(attribute, places);
    }
    return places;
  }

  #countedIn(attribute: string): Set<string> {
    const kind = usageKeys.find(([, key]) => key === attribute)?.[0];
    return new Set(kind && kind !== "cached" ? this.derived.tokenSpans[kind] : []);
  }

  /** Where the duration was read: on the root, or on none where the call itself was timed. */
  placesOfTime(): Evidence[] {
    if (!this.received?.time) return this.rootWithout(null);
    if (this.turns) return this.turns.flatMap(turn => turn.placesOfTime()).slice(0, evidenceMax);
    const { rootSpanId, durationMs } = this.derived;
    return [{ spanId: rootSpanId ?? "", attribute: receivedAttributes.time, value: durationMs }];
  }

  /** Whether it is the root of the trace, or of one of its turns. */
  isRoot({ span_id }: Span): boolean {
    return (this.turns ?? [this]).some(({ derived }) => derived.rootSpanId === span_id);
  }

  /** The root, as the place where an attribute would have been; none where the trace has no span. */
  rootWithout(attribute: string | null): Evidence[] {
    const spanId = this.derived.rootSpanId;
    return spanId === null ? [] : [{ spanId, attribute }];
  }

  get #everySpan(): Node[] {
    if (!this.#all) {
      this.#all = this.spans.map(span => ({ span, name: withoutCase(span.name) }));
      this.#nameChars = this.#all.reduce((sum, { name }) => sum + name.length, 0);
    }
    return this.#all;
  }

  get #everyNode(): Node[] {
    this.#nodes ??= this.#everySpan.filter(({ span }) => toolNameOf(span) === null);
    return this.#nodes;
  }
}

/** In lower case. A sigma that ends a word would become another letter than one within it. */
function withoutCase(name: string): string {
  return name.toLowerCase().replaceAll("ς", "σ");
}

function cached<V>(cache: Map<string, Map<Span, V>>, field: string, span: Span, make: () => V): V {
  const ofField = cache.get(field) ?? new Map<Span, V>();
  cache.set(field, ofField);
  if (!ofField.has(span)) ofField.set(span, make());
  return ofField.get(span)!;
}
