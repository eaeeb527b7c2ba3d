// Redaction: finds emails, phone numbers, secrets and a project's own patterns in traces, before anything is stored.
import { type IdNames, idKeysOf } from "./redaction/ids.ts";
import { type OwnRule, OwnRules } from "./redaction/own-rules.ts";
import { type BuiltInRule, builtInRules } from "./redaction/rules.ts";
import { TextRedaction } from "./redaction/text.ts";
import { redactAttributes, redactBatch, redactRecords } from "./redaction/traces.ts";
import { type Engine, Walk } from "./redaction/walk.ts";
import { Work, workMax } from "./redaction/work.ts";
import type { Attributes, Batch, LogRecord } from "./trace/trace.ts";

export type RedactionRules = {
  /** Names of built-in rules, or "*". */
  builtIn: readonly string[];
  rules: readonly OwnRule[];
  /** Attribute keys whose values become pseudonyms, whatever they are. */
  pseudonyms: readonly string[];
};

/** Where a value was in a span, or in the body of the trace. */
export type RedactionIn = "attributes" | "events" | "resource" | "scope" | "status" | "metadata" | "log";

/** Start and end, in UTF-16 units of the text as it is stored. */
export type Place = [start: number, end: number];

/** The places of one rule in a text; `unchecked` and `pseudonym` are rules, too. */
export type PlacesOfRule = { rule: string; places: Place[] };

/** The places of one rule in one text of a span, or of the trace. */
export type Redaction = {
  /** Null for the resource and the metadata of a batch. */
  spanId: string | null;
  in: RedactionIn;
  /**
   * Of the text: the attribute's key, then steps into its value, such as `gen_ai.input.messages[0].content`. In events and
   * log records it begins with the position, `[0].attributes["exception.message"]`; of a status it is `message`.
   */
  path: string;
  /** A rule's name; `pseudonym`; `unchecked` for a text that was not finished. */
  rule: string;
  places: Place[];
};

/** `value`: the same object if nothing was found, else a copy that shares what did not change. */
export type Redacted<T> = { value: T; redactions: Redaction[] };

export type RedactedText = { text: string; found: PlacesOfRule[] };

export type RedactionOptions = {
  /** What is left to spend; by default enough for a body of the largest size under the built-in rules. */
  work?: Work;
  /** Further attributes that are read as ids, such as those of an agent's own rules. */
  ids?: IdNames;
};

/** Changes nothing that it is given. Never throws on any content. */
export type Redactor = {
  /** The names of its rules: built-in ones, then own ones, as far as they are active. */
  names: readonly string[];
  batch(batch: Batch, options?: RedactionOptions): Redacted<Batch>;
  records(spanId: string, records: LogRecord[], options?: RedactionOptions): Redacted<LogRecord[]>;
  attributes(
    attributes: Attributes,
    at: Pick<Redaction, "spanId" | "in">,
    options?: RedactionOptions,
  ): Redacted<Attributes>;
  text(text: string, options?: Pick<RedactionOptions, "work">): RedactedText;
  /** For the parts of one batch. */
  search(options?: RedactionOptions): Search;
};

/**
 * Whether nothing in a part of a batch would be redacted, in any order of the parts. If that is true of all attributes (of
 * spans, scopes, events, links and the resource, but for the service's name), messages of statuses and states of traces,
 * `batch` finds nothing, with the same options.
 */
export type Search = {
  isCleanAttribute(key: string, value: unknown): boolean;
  /**
   * Whether that is seen without decoding the text of an attribute, which is in the bytes from `from` to `to`, in UTF-8 and as it is
   * or as JSON writes it. False says nothing.
   */
  isSeenClean(key: string, bytes: Uint8Array, from: number, to: number): boolean;
  isCleanText(text: string): boolean;
};

/**
 * Compiles the rules; undefined if none is on. Keep the redactor while the rules stay the same: own rules take
 * milliseconds to compile. `pseudonymOf` gives `p_` and a keyed hash, and the same for the same value. Own rules must be
 * valid (`ownRuleIssues`); an invalid one throws PatternFault.
 */
export function openRedactor(
  rules: RedactionRules,
  pseudonymOf: (value: string) => string,
): Redactor | undefined {
  const builtIn = activeBuiltIn(rules.builtIn);
  if (builtIn.length + rules.rules.length + rules.pseudonyms.length === 0) return undefined;
  const texts = new TextRedaction(builtIn, new OwnRules(rules.rules));
  const ids = idKeysOf(rules.pseudonyms);
  const engine = (options: RedactionOptions = {}) => ({
    texts,
    pseudonymOf,
    ids: options.ids ? idKeysOf(rules.pseudonyms, options.ids) : ids,
    work: options.work ?? new Work(workMax),
  });
  return {
    names: texts.names,
    batch: (batch, options) => redactBatch(batch, engine(options)),
    records: (spanId, records, options) => redactRecords(spanId, records, engine(options)),
    attributes: (attributes, at, options) => redactAttributes(attributes, at, engine(options)),
    text: (text, options) => texts.redact(text, options?.work ?? new Work(workMax)),
    search: options => searchBy({ ...engine(options), pseudonymOf: () => "" }),
  };
}

function searchBy(engine: Engine): Search {
  const found: Redaction[] = [];
  const walk = new Walk(engine, null, "attributes", found);
  return {
    isCleanAttribute(key, value) {
      walk.attribute(value, key, key);
      return found.length === 0;
    },
    isSeenClean: (key, bytes, from, to) => walk.isSeenClean(key, bytes, from, to),
    isCleanText(text) {
      walk.text(text, "", "");
      return found.length === 0;
    },
  };
}

/** In the order of the table, each once. */
export function activeBuiltIn(chosen: readonly string[]): BuiltInRule[] {
  return builtInRules.filter(name => chosen.includes("*") || chosen.includes(name));
}
