// A trace as the checks look at it: what several of them need is worked out once, and only when one asks.
import { attributeOf, spanText, toolNameOf } from "../model/conversation/conversation.ts";
import { parseJson, ValueAllowance } from "../model/json-text.ts";
import { observedMark } from "../model/run/observed-turn.ts";
import { receivedAttributes } from "../model/run/received.ts";
import type { Evidence } from "../model/run/run.ts";
import type { Derived, FoundText, MergedTrace, Span } from "../model/trace/trace.ts";
import { evidenceMax, excerpt } from "./excerpt.ts";

/** `name` is in lower case. */
export type Node = { span: Span; name: string };

export class TraceView {
  readonly spans: Span[];
  readonly derived: Derived;
  /** Each turn for itself, where the trace is joined of several; null for any other trace. */
  readonly turns: TraceView[] | null;
  /** Whether it, or one of its turns, was made of what was seen from outside: of what the agent did, nothing shows. */
  readonly isObserved: boolean;
  readonly received: MergedTrace["received"];
  #all: Node[] | undefined;
  #nodes: Node[] | undefined;
  #named = new Map<string, Span[]>();
  #texts = new Map<string, FoundText[]>();
  #parsed = new Map<string, Map<Span, unknown>>();
  readonly #allowance = new ValueAllowance();

  constructor(trace: MergedTrace, derived: Derived) {
    this.spans = trace.spans;
    this.derived = derived;
    this.received = trace.received;
    this.turns = trace.turns?.map(turn => new TraceView(turn.trace, turn.derived)) ?? null;
    this.isObserved = this.turns
      ? this.turns.some(turn => turn.isObserved)
      : trace.metadata?.[observedMark] === true;
  }

  /** The spans that are no tool calls. */
  get nodes(): Node[] {
    this.#nodes ??= this.#everySpan.filter(({ span }) => toolNameOf(span) === null);
    return this.#nodes;
  }

  /** The spans whose name contains the target, ignoring case; tool calls among them. */
  spansNamed(target: string): Span[] {
    const wanted = target.toLowerCase();
    let found = this.#named.get(wanted);
    if (!found) {
      found = this.#everySpan.filter(({ name }) => name.includes(wanted)).map(({ span }) => span);
      this.#named.set(wanted, found);
    }
    return found;
  }

  /** The texts of the spans that the target names. */
  textsNamed(target: string): FoundText[] {
    let found = this.#texts.get(target);
    if (!found) {
      found = this.spansNamed(target).flatMap(span => spanText(span) ?? []);
      this.#texts.set(target, found);
    }
    return found;
  }

  /** An attribute's text parsed as JSON; undefined where it is no JSON, or too much of it was parsed before. */
  parsed(span: Span, field: string, text: string): unknown {
    let ofField = this.#parsed.get(field);
    if (!ofField) {
      ofField = new Map();
      this.#parsed.set(field, ofField);
    }
    if (!ofField.has(span)) ofField.set(span, parseJson(text, this.#allowance));
    return ofField.get(span);
  }

  /** Where a trace-wide attribute was read: on the root if it is there, else on the other spans that have it. */
  placesOf(attribute: string): Evidence[] {
    const holders = this.spans.filter(span => attributeOf(span, attribute) !== undefined);
    const onRoot = holders.find(span => span.span_id === this.derived.rootSpanId);
    return (onRoot ? [onRoot] : holders).slice(0, evidenceMax).map(span => placeOf(span, attribute));
  }

  /** Where the duration was read: on the root, or on none where the call itself was timed. */
  placesOfTime(): Evidence[] {
    if (!this.received?.time) return this.rootWithout(null);
    if (this.turns) return this.turns.flatMap(turn => turn.placesOfTime()).slice(0, evidenceMax);
    const { rootSpanId, durationMs } = this.derived;
    return [{ spanId: rootSpanId ?? "", attribute: receivedAttributes.time, value: durationMs }];
  }

  /** The root, as the place where an attribute would have been; none where the trace has no span. */
  rootWithout(attribute: string | null): Evidence[] {
    const spanId = this.derived.rootSpanId;
    return spanId === null ? [] : [{ spanId, attribute }];
  }

  get #everySpan(): Node[] {
    this.#all ??= this.spans.map(span => ({ span, name: span.name.toLowerCase() }));
    return this.#all;
  }
}

/** A span's attribute as evidence, with a copy of its value. */
export function placeOf(span: Span, attribute: string): Evidence {
  return { spanId: span.span_id, attribute, value: excerpt(attributeOf(span, attribute)) };
}

/** A text as evidence. */
export function placeOfText({ spanId, attribute, text }: FoundText): Evidence {
  return { spanId, attribute, value: excerpt(text) };
}

/** Spans as evidence, by their names. */
export function placesOfSpans(spans: Span[]): Evidence[] {
  return spans
    .slice(0, evidenceMax)
    .map(span => ({ spanId: span.span_id, attribute: null, value: excerpt(span.name) }));
}

/** The distinct names of spans, at most fifty. */
export function namesOf(spans: Span[]): string[] {
  const names = new Set<string>();
  for (const span of spans) {
    names.add(span.name);
    if (names.size === 50) break;
  }
  return [...names].map(name => String(excerpt(name)));
}
