// Redaction: finds emails, phone numbers, secrets and a project's own patterns in traces, before anything is stored.
import {
  activeBuiltIn,
  type Redacted,
  type RedactedText,
  type Redaction,
  type RedactionRules,
} from "./model/redaction.ts";
import type { Attributes, Batch, LogRecord } from "./model/trace/trace.ts";
import { type IdNames, idKeysOf } from "./redaction/ids.ts";
import { OwnRules } from "./redaction/own-rules.ts";
import { TextRedaction } from "./redaction/text.ts";
import { redactAttributes, redactBatch, redactRecords } from "./redaction/traces.ts";
import { type Engine, Walk } from "./redaction/walk.ts";
import { Work, workMax } from "./redaction/work.ts";

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
