// Walks through the values of a span, and redacts texts and ids in them.

import { step } from "../model/path.ts";
import { isRecord } from "../model/record.ts";
import {
  addCount,
  pseudonymRule,
  type RedactionIn,
  type RuleCounts,
  uncheckedText,
} from "../model/redaction.ts";
import type { Attributes } from "../model/trace/trace.ts";
import type { IdKeys, IdRule } from "./ids.ts";
import { type JsonNumber, jsonTextsIn } from "./json-texts.ts";
import { type KnownRules, type TextRedaction, unchecked } from "./text.ts";
import type { Work } from "./work.ts";

export type Engine = {
  texts: TextRedaction;
  pseudonymOf: (value: string) => string;
  ids: IdKeys;
  work: Work;
  known: KnownRules;
  /** Gets what is redacted. */
  counts: RuleCounts;
  onFound: ((found: FoundValues) => void) | undefined;
};

/** Values that a rule found in one text of a span, or of the body of the trace. */
export type FoundValues = {
  /** Null for the resource and the metadata of a batch. */
  spanId: string | null;
  in: RedactionIn;
  /**
   * Of the text: the attribute's key, then steps into its value, such as `gen_ai.input.messages[0].content`. In events and
   * log records it begins with the position, `[0].attributes["exception.message"]`; of a status it is `message`.
   */
  path: string;
  rule: string;
  count: number;
};

/** In units of work: walking to a value. */
const valueUnits = 8;

/** Each method returns the same value if nothing in it was found. */
export class Walk {
  readonly #engine: Engine;
  readonly #at: Pick<FoundValues, "spanId" | "in">;

  constructor(engine: Engine, spanId: string | null, where: RedactionIn) {
    this.#engine = engine;
    this.#at = { spanId, in: where };
  }

  attributes(attributes: Attributes, path: string, kept?: string): Attributes {
    return this.#object(attributes, (value, key) =>
      key === kept ? value : this.attribute(value, path === "" ? key : path + step(key), key),
    );
  }

  attribute(value: unknown, path: string, key: string): unknown {
    const { ids } = this.#engine;
    const rule = ids.of(key);
    if (rule) return this.#id(value, path, rule);
    const fields = ids.fieldsOf(key);
    return fields ? this.#withFields(value, path, key, fields) : this.any(value, path, key);
  }

  events(events: unknown[]): unknown[] {
    return this.list(events, (event, index) => this.#event(event, `[${index}]`));
  }

  links(links: unknown[]): unknown[] {
    return this.list(links, (link, index) => {
      if (!isRecord(link)) return link;
      const path = `links[${index}]`;
      return this.#object(link, (part, key) => {
        if (key === "attributes" && isRecord(part)) return this.attributes(part, `${path}.attributes`);
        return key === "trace_state" ? this.any(part, path + step(key), "") : part;
      });
    });
  }

  list<T>(list: T[], change: (item: T, index: number) => T): T[] {
    let changed: T[] | null = null;
    for (let index = 0; index < list.length; index++) {
      const value = change(list[index]!, index);
      if (value === list[index]) continue;
      changed ??= list.slice();
      changed[index] = value;
    }
    return changed ?? list;
  }

  any(value: unknown, path: string, key: string): unknown {
    if (typeof value === "string") return this.text(value, path, key);
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value))
      return this.list(value, (item, index) => this.any(item, `${path}[${index}]`, key));
    return this.#object(value as Attributes, (item, name) => this.any(item, path + step(name), name));
  }

  text(text: string, path: string, key: string): string {
    if (text === "") return text;
    const { texts, work, known } = this.#engine;
    if (!texts.searches) return text;
    const redacted = work.spend(valueUnits) ? texts.redact(text, work, key, known) : unchecked();
    for (const rule in redacted.counts) this.#count(rule, redacted.counts[rule]!, path);
    return redacted.text;
  }

  #count(rule: string, count: number, path: string): void {
    addCount(this.#engine.counts, rule, count);
    this.#engine.onFound?.({ ...this.#at, path, rule, count });
  }

  /** Its name and its times stay. */
  #event(event: unknown, path: string): unknown {
    if (!isRecord(event)) return this.any(event, path, "");
    return this.#object(event, (part, key) => {
      const isKept = key === "name" || (timeKeys.has(key) && isTime(part));
      if (isKept && typeof part === "string") return part;
      const below = path + step(key);
      return key === "attributes" && isRecord(part)
        ? this.attributes(part, below)
        : this.any(part, below, key);
    });
  }

  #object(object: Attributes, change: (value: unknown, key: string) => unknown): Attributes {
    let changes: Map<string, unknown> | null = null;
    for (const key in object) {
      const value = change(object[key], key);
      if (value === object[key]) continue;
      changes ??= new Map();
      changes.set(key, value);
    }
    if (!changes) return object;
    // `fromEntries`, because an attribute may be called __proto__.
    return Object.fromEntries(
      Object.entries(object).map(([key, value]) => [key, changes.has(key) ? changes.get(key) : value]),
    );
  }

  /** Whole values: a part of an id is no id. */
  #id(value: unknown, path: string, rule: IdRule): unknown {
    if (typeof value === "string" || typeof value === "number" || typeof value === "bigint") {
      const id = typeof value === "string" ? this.#idText(value, rule) : this.#idNumber(value, rule);
      if (id !== value) this.#count(pseudonymRule, 1, path);
      return id;
    }
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value))
      return this.list(value, (item, index) => this.#id(item, `${path}[${index}]`, rule));
    return this.#object(value as Attributes, (item, key) => this.#id(item, path + step(key), rule));
  }

  #idNumber(id: number | bigint, rule: IdRule): unknown {
    return rule === "always" ? this.#engine.pseudonymOf(String(id)) : id;
  }

  #idText(text: string, rule: IdRule): string {
    const inner = quotedText(text);
    const id = inner ?? text;
    if (id === "" || pseudonymPattern.test(id)) return text;
    const { texts, work, known, pseudonymOf } = this.#engine;
    if (rule === "ifFound") {
      const found = work.spend(valueUnits) ? texts.find(id, work, "", known) : null;
      if (found?.length === 0) return text;
    }
    return inner === null ? pseudonymOf(id) : `"${pseudonymOf(id)}"`;
  }

  /** Some fields of an object, or of the JSON of one, are ids. */
  #withFields(value: unknown, path: string, key: string, fields: ReadonlyMap<string, IdRule>): unknown {
    if (typeof value === "string") return this.#withFieldsInJson(value, path, key, fields);
    if (!isRecord(value)) return this.any(value, path, key);
    return this.#object(value, (part, name) => {
      const rule = fields.get(name);
      const below = path + step(name);
      return rule ? this.#id(part, below, rule) : this.any(part, below, name);
    });
  }

  /** Ids become pseudonyms first, from the last to the first; then the rest of the text is redacted. */
  #withFieldsInJson(text: string, path: string, key: string, fields: ReadonlyMap<string, IdRule>): string {
    const numbers: JsonNumber[] = [];
    const inner = jsonTextsIn(text, undefined, numbers) ?? [];
    const ids: { start: number; end: number; by: string }[] = [];
    for (const one of inner) {
      const rule = one.isField ? fields.get(one.key) : undefined;
      const by = rule ? this.#idText(one.text, rule) : one.text;
      if (by !== one.text) ids.push({ start: one.at(0), end: one.at(one.text.length), by });
    }
    for (const { key, start, end } of numbers) {
      if (fields.get(key) !== "always") continue;
      ids.push({ start, end, by: `"${this.#engine.pseudonymOf(asNumber(text.slice(start, end)))}"` });
    }
    let changed = text;
    for (const { start, end, by } of ids.sort((a, b) => b.start - a.start))
      changed = changed.slice(0, start) + by + changed.slice(end);
    const stored = this.text(changed, path, key);
    if (ids.length > 0 && stored !== uncheckedText) this.#count(pseudonymRule, ids.length, path);
    return stored;
  }
}

const timeKeys: ReadonlySet<string> = new Set(["time_unix_nano", "timeUnixNano", "timestamp", "time"]);

/** Decimal digits, or a date as ISO 8601 writes it: other text in their place is no time. */
function isTime(value: unknown): boolean {
  return (
    typeof value === "string" &&
    /^(?:\d{1,20}|\d{4}-\d\d-\d\d(?:[T ][\d:.]{1,18}(?:Z|[+-][\d:]{2,6})?)?)$/.test(value)
  );
}

/** A pseudonym stays what it is when a trace is redacted again. Other ids that begin with p_ become pseudonyms, too. */
const pseudonymPattern = /^p_[0-9A-Za-z_-]{22}$/;

/** As the same number is written that is not in JSON in a text. */
function asNumber(raw: string): string {
  const value = Number(raw);
  return Number.isSafeInteger(value) ? String(value) : raw;
}

/** What a text in quotes, the JSON of a text, stands for; null for any other. */
function quotedText(text: string): string | null {
  if (!text.startsWith('"') || !text.endsWith('"') || text.length < 2) return null;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "string" ? value : null;
  } catch {
    return null;
  }
}
