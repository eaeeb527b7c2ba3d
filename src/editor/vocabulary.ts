// Collects span, tool, attribute and argument names from traces, as completions for assertions.

import { excerpt } from "../evaluate/excerpt.ts";
import { isRecord } from "../model/record.ts";
import type { Derived, MergedTrace } from "../model/trace/trace.ts";

/** A key and some of its values, shortened. */
export type Term = { key: string; samples: unknown[] };

/** Most frequent first. Lists instead of objects, because a name in a trace may be any text, such as `__proto__`. */
export type Vocabulary = {
  /** How many traces were read. */
  traces: number;
  /** False if a limit on size or time left something out. */
  complete: boolean;
  spans: { name: string; count: number; attributes: Term[] }[];
  tools: { name: string; count: number; arguments: Term[] }[];
};

type Entry = { count: number; terms: Map<string, Map<string, unknown>> };

const namesMax = 200;
const termsMax = 100;
const samplesMax = 3;
const sampleMax = 100;
/** Longer names are not allowed in an assertion. */
const keyMax = 500;
/** Characters of all names and samples together. */
const charsMax = 300_000;

export class VocabularyBuilder {
  readonly #spans = new Map<string, Entry>();
  readonly #tools = new Map<string, Entry>();
  #traces = 0;
  #charsLeft = charsMax;
  #complete = true;

  add({ spans }: MergedTrace, { toolCalls }: Derived): void {
    this.#traces += 1;
    for (const span of spans) {
      const entry = this.#entry(this.#spans, span.name);
      if (!entry) continue;
      for (const key of Object.keys(span.attributes)) this.#add(entry, key, span.attributes[key]);
    }
    for (const { name, arguments: args } of toolCalls) {
      const entry = this.#entry(this.#tools, name);
      if (!entry || !isRecord(args)) continue;
      for (const key of Object.keys(args)) this.#add(entry, key, args[key]);
    }
  }

  markIncomplete(): void {
    this.#complete = false;
  }

  build(): Vocabulary {
    return {
      traces: this.#traces,
      complete: this.#complete,
      spans: frequentFirst(this.#spans).map(([name, { count, terms }]) => ({
        name,
        count,
        attributes: termsOf(terms),
      })),
      tools: frequentFirst(this.#tools).map(([name, { count, terms }]) => ({
        name,
        count,
        arguments: termsOf(terms),
      })),
    };
  }

  #entry(entries: Map<string, Entry>, name: string): Entry | undefined {
    let entry = entries.get(name);
    if (!entry) {
      if (name === "" || name.length > keyMax) return undefined;
      if (entries.size === namesMax || !this.#take(name.length)) return void this.markIncomplete();
      entry = { count: 0, terms: new Map() };
      entries.set(name, entry);
    }
    entry.count += 1;
    return entry;
  }

  #add({ terms }: Entry, key: string, value: unknown): void {
    if (value === null || value === undefined || key === "" || key.length > keyMax) return;
    let samples = terms.get(key);
    if (!samples) {
      if (terms.size === termsMax || !this.#take(key.length)) {
        this.markIncomplete();
        return;
      }
      samples = new Map();
      terms.set(key, samples);
    }
    if (samples.size === samplesMax) return;
    const sample = excerpt(value, sampleMax);
    const text = JSON.stringify(sample);
    // Samples are only examples: without this one the vocabulary is still complete.
    if (!samples.has(text) && this.#take(text.length)) samples.set(text, sample);
  }

  #take(length: number): boolean {
    if (length > this.#charsLeft) return false;
    this.#charsLeft -= length;
    return true;
  }
}

function frequentFirst(entries: Map<string, Entry>): [string, Entry][] {
  return [...entries].sort(([, a], [, b]) => b.count - a.count);
}

function termsOf(terms: Map<string, Map<string, unknown>>): Term[] {
  return [...terms].map(([key, samples]) => ({ key, samples: [...samples.values()] }));
}
