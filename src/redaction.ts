// Redaction: finds emails, phone numbers, secrets and a project's own patterns in traces, before anything is stored.
import { activeBuiltIn, noCounts, type RedactionRules, type RuleCounts } from "./model/redaction.ts";
import type { Attributes, Batch } from "./model/trace/trace.ts";
import { type IdNames, idKeysOf } from "./redaction/ids.ts";
import { OwnRules } from "./redaction/own-rules.ts";
import { type KnownRules, type RedactedText, TextRedaction } from "./redaction/text.ts";
import { redactBatch, redactResource } from "./redaction/traces.ts";
import { type Engine, type FoundValues, Walk } from "./redaction/walk.ts";
import { Work, workMax } from "./redaction/work.ts";

export type RedactionOptions = {
  /** What is left to spend; by default enough for a body of the largest size under the built-in rules. */
  work?: Work;
  /** Further attributes that are read as ids, such as those of an agent's own rules. */
  ids?: IdNames;
  /** The rules that redacted something in it before: their placeholders stay. Any other that is found came with a text. */
  known?: KnownRules;
  onFound?: (found: FoundValues) => void;
};

/** `value`: the same if nothing in it changes, else a copy that shares what did not. */
export type Redacted<T> = { value: T; counts: RuleCounts };

/** Changes nothing that it is given. Never throws on any content. */
export type Redactor = {
  /** The names of its rules: built-in ones, then own ones, as far as they are active. */
  names: readonly string[];
  batch(batch: Batch, options?: RedactionOptions): Redacted<Batch>;
  resource(resource: Attributes, options?: RedactionOptions): Redacted<Attributes>;
  text(text: string, options?: Pick<RedactionOptions, "work" | "known">): RedactedText;
  /** For the parts of one batch. */
  search(options?: RedactionOptions): Search;
};

/**
 * Whether nothing in a part of a batch would change, in any order of the parts. If that is true of all attributes (of
 * spans, scopes, events, links and the resource, but for the service's name), messages of statuses and states of traces,
 * `batch` changes nothing, with the same options.
 */
export type Search = {
  isCleanAttribute(key: string, value: unknown): boolean;
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
  const engine = ({ work, ids: more, known = noRules, onFound }: RedactionOptions = {}): Engine => ({
    ...{ texts, pseudonymOf, known, onFound },
    ids: more ? idKeysOf(rules.pseudonyms, more) : ids,
    work: work ?? new Work(workMax),
    counts: noCounts(),
  });
  const by = <T>(redact: (engine: Engine) => T, options?: RedactionOptions): Redacted<T> => {
    const own = engine(options);
    return { value: redact(own), counts: own.counts };
  };
  return {
    names: texts.names,
    batch: (batch, options) => by(own => redactBatch(batch, own), options),
    resource: (resource, options) => by(own => redactResource(resource, null, own), options),
    text: (text, { work = new Work(workMax), known } = {}) => texts.redact(text, work, "", known),
    search: options => searchBy({ ...engine(options), pseudonymOf: () => "" }),
  };
}

const noRules: KnownRules = new Set();

function searchBy(engine: Engine): Search {
  const walk = new Walk(engine, null, "attributes");
  return {
    isCleanAttribute: (key, value) => walk.attribute(value, key, key) === value,
    isCleanText: text => walk.text(text, "", "") === text,
  };
}
