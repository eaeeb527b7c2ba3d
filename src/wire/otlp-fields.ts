// The messages of OTLP that are read: the number and name of each field, how it is written, and where it is stored.
import { newSpan } from "../model/trace/new-span.ts";

/** What is stored of a message. */
export type Target = Record<string, unknown>;

/** Wire types of protobuf, by how a field is written. `note`: a text that only informs. `value`: an AnyValue. */
const wires = {
  ...{ text: 2, note: 2, id: 2, bytes: 2, attribute: 2, value: 2, message: 2 },
  ...{ enum: 0, uint32: 0, int: 0, bool: 0, time: 1, double: 1, fixed32: 5 },
};
export type FieldKind = keyof typeof wires;

export type Field = {
  /** In protobuf: its number and its wire type. */
  tag: number;
  /** In JSON. */
  name: string;
  kind: FieldKind;
  /** Its key in what is stored; empty if it has none. */
  stored: string;
  /** Left out of what is stored where it is 0 or empty. */
  isOptional: boolean;
  isList: boolean;
  /** Whether it is redacted. */
  isRedacted: boolean;
  /** The names of an enum's values, from 0. */
  values: readonly string[];
  /** What it holds. */
  message: Message;
  /** One that no other field of the message has. */
  bit: number;
};

type Described = Pick<Field, "tag" | "kind"> & Partial<Field>;

export class Message<Name extends string = string> {
  readonly of: Readonly<Record<Name, Field>>;
  /** Fields that are stored under a key, in the order in which faults of JSON are reported. */
  readonly stored: readonly Field[];
  readonly byTag: (Field | undefined)[] = [];
  /** The field with the spans or log records, or with what holds them: none of it is stored here. */
  readonly items: Field | null;
  /** At least as many objects, lists and commas as it has in JSON if all its fields are set. */
  readonly elements: number;
  readonly create: () => Target;
  readonly #byShape = new Map<number, { field: Field; bytes: Buffer }>();

  constructor(elements: number, create: () => Target, described: Record<Name, Described>) {
    const of = {} as Record<Name, Field>;
    for (const name in described) {
      const other = { stored: "", isOptional: false, isList: false, isRedacted: false, values: [] };
      of[name] = { name, ...other, message: this, bit: 0, ...described[name] };
    }
    this.of = of;
    const fields = Object.values<Field>(of);
    this.stored = fields.filter(({ stored }) => stored !== "");
    this.items = fields.find(({ isList, stored }) => isList && stored === "") ?? null;
    this.elements = elements;
    this.create = create;
    for (const [index, field] of fields.entries()) {
      field.bit = 1 << index;
      this.byTag[field.tag] = field;
      const bytes = Buffer.from(field.name);
      const shape = shapeOf(bytes, 0, bytes.length);
      if (this.#byShape.has(shape)) throw new Error(`${field.name} is like another name`);
      this.#byShape.set(shape, { field, bytes });
    }
  }

  /** The field whose name is in the bytes from `from` up to `to`. */
  named(bytes: Uint8Array, from: number, to: number): Field | undefined {
    const known = this.#byShape.get(shapeOf(bytes, from, to));
    if (known === undefined) return undefined;
    for (let i = 0; i < known.bytes.length; i++) if (bytes[from + i] !== known.bytes[i]) return undefined;
    return known.field;
  }
}

/** No two names of a message have the same length, first and last letter. */
function shapeOf(bytes: Uint8Array, from: number, to: number): number {
  return ((to - from) << 16) | (bytes[from]! << 8) | bytes[to - 1]!;
}

function field(kind: FieldKind, number: number, stored = "", more: Partial<Field> = {}): Described {
  return { kind, tag: number * 8 + wires[kind], stored, ...more };
}
function optional(kind: FieldKind, number: number, stored: string, more: Partial<Field> = {}): Described {
  return field(kind, number, stored, { isOptional: true, ...more });
}
function one(number: number, message: Message, stored: string): Described {
  return field("message", number, stored, { message });
}
function many(number: number, message: Message, stored = ""): Described {
  return field("message", number, stored, { message, isList: true });
}
function attributesAt(number: number): Described {
  return field("attribute", number, "attributes", { message: keyValue, isList: true });
}
const dropped = "dropped_attributes_count";
const empty = (): Target => ({});
const withAttributes = (): Target => ({ attributes: {} });

export const anyValue: Message = new Message(1, empty, {
  stringValue: field("text", 1),
  boolValue: field("bool", 2),
  intValue: field("int", 3),
  doubleValue: field("double", 4),
  arrayValue: field("message", 5),
  kvlistValue: field("message", 6),
  bytesValue: field("bytes", 7),
});
export const keyValue = new Message(1, empty, {
  key: field("text", 1),
  value: field("value", 2, "", { message: anyValue }),
});
anyValue.of["arrayValue"]!.message = new Message(1, empty, {
  values: field("value", 1, "values", { message: anyValue, isList: true }),
});
anyValue.of["kvlistValue"]!.message = new Message(1, empty, { values: attributesAt(1) });

export const resource = new Message(2, withAttributes, {
  attributes: attributesAt(1),
  droppedAttributesCount: optional("uint32", 2, dropped),
});
export const scope = new Message(8, withAttributes, {
  name: optional("text", 1, "name"),
  version: optional("text", 2, "version"),
  attributes: attributesAt(3),
  droppedAttributesCount: optional("uint32", 4, dropped),
});
export const status = new Message(3, empty, {
  code: optional("enum", 3, "code", {
    values: ["STATUS_CODE_UNSET", "STATUS_CODE_OK", "STATUS_CODE_ERROR"],
  }),
  message: optional("text", 2, "message", { isRedacted: true }),
});
export const event = new Message(8, () => ({ name: "", time_unix_nano: null, attributes: {} }), {
  name: field("text", 2, "name"),
  timeUnixNano: field("time", 1, "time_unix_nano"),
  attributes: attributesAt(3),
  droppedAttributesCount: optional("uint32", 4, dropped),
});
const traceState = optional("note", 3, "trace_state", { isRedacted: true });
export const link = new Message(10, () => ({ trace_id: null, span_id: null, attributes: {} }), {
  traceId: field("id", 1, "trace_id"),
  spanId: field("id", 2, "span_id"),
  attributes: attributesAt(4),
  droppedAttributesCount: optional("uint32", 5, dropped),
  traceState,
  flags: optional("fixed32", 6, "flags"),
});
const kinds = ["UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"];
export const span = new Message(24, newSpan, {
  traceId: field("id", 1),
  spanId: field("id", 2),
  parentSpanId: field("id", 4),
  name: field("text", 5, "name"),
  attributes: attributesAt(9),
  startTimeUnixNano: field("time", 7, "start_time_unix_nano"),
  endTimeUnixNano: field("time", 8, "end_time_unix_nano"),
  status: one(15, status, "status"),
  events: many(11, event, "events"),
  kind: optional("enum", 6, "kind", { values: kinds.map(kind => `SPAN_KIND_${kind}`) }),
  links: many(13, link, "links"),
  droppedAttributesCount: optional("uint32", 10, dropped),
  droppedEventsCount: optional("uint32", 12, "dropped_events_count"),
  droppedLinksCount: optional("uint32", 14, "dropped_links_count"),
  traceState,
  flags: optional("fixed32", 16, "flags"),
});
const newRecord = () => ({ event_name: "", time_unix_nano: null, body: null, attributes: {} });
export const logRecord = new Message(10, newRecord, {
  traceId: field("id", 9),
  spanId: field("id", 10),
  attributes: attributesAt(6),
  eventName: field("text", 12, "event_name"),
  timeUnixNano: field("time", 1, "time_unix_nano"),
  observedTimeUnixNano: optional("time", 11, "observed_time_unix_nano"),
  body: field("value", 5, "body", { message: anyValue }),
  droppedAttributesCount: optional("uint32", 7, dropped),
});

const schemaUrl = optional("note", 3, "schema_url");
export const scopeSpans = new Message(2, empty, {
  scope: one(1, scope, "scope"),
  schemaUrl,
  spans: many(2, span),
});
export const resourceSpans = new Message(2, empty, {
  resource: one(1, resource, "resource"),
  schemaUrl,
  scopeSpans: many(2, scopeSpans),
});
/** A request of traces, and one of log records, of whose scopes nothing is kept. */
export const traces = new Message(0, empty, { resourceSpans: many(1, resourceSpans) });
const scopeLogs = new Message(2, empty, { logRecords: many(2, logRecord) });
const resourceLogs = new Message(2, empty, {
  resource: one(1, resource, "resource"),
  scopeLogs: many(2, scopeLogs),
});
export const logs = new Message(0, empty, { resourceLogs: many(1, resourceLogs) });

/** Puts the message of a field into what is stored of the message that has it; null if nothing of it is stored. */
export function putMessage(target: Target, { stored, isList }: Field, value: Target): void {
  if (!isList) target[stored] = isEmpty(value) ? null : value;
  else if (target[stored]) (target[stored] as Target[]).push(value);
  else target[stored] = [value];
}

export function isEmpty(target: Target): boolean {
  for (const _ in target) return false;
  return true;
}
