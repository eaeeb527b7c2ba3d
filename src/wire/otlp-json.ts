// Reads a parsed OTLP request in JSON: its envelopes strictly, and what is stored of its spans or log records.
import { isRecord } from "../model/record.ts";
import { setOwn } from "../model/set-own.ts";
import type { Attributes } from "../model/trace/trace.ts";
import { readAnyValue } from "./any-value.ts";
import { malformed, readId, readUint64 } from "./fields.ts";
import type { DecodeLimits } from "./limits.ts";
import { type Field, type Message, putMessage, type Target, traces } from "./otlp-fields.ts";
import { Grouping, type OtlpGroup, originOf, type SentIds, scopeOf, type Taker } from "./otlp-groups.ts";

export type Json = Record<string, unknown>;

/** Throws VALIDATION_ERROR for a malformed envelope, OTLP_NO_SPANS, or PAYLOAD_TOO_LARGE. */
export function readOtlpJson(body: Json, limits: DecodeLimits, bodyBytes: number): OtlpGroup[] {
  const grouping = new Grouping(limits, bodyBytes);
  readRequest(body, traces, grouping);
  return grouping.finish();
}

/** Throws VALIDATION_ERROR for a malformed envelope. */
export function readRequest(body: Json, request: Message, taker: Taker): void {
  const resources = request.items!;
  const scopes = resources.message.items!;
  const items = scopes.message.items!;
  eachOf(body, resources, "", (sentResource, resourcePath) => {
    const ofResource = asObject(sentResource, resourcePath);
    const described = readFields(ofResource, resources.message, resourcePath);
    const origin = originOf(described, serviceNameOf(ofResource["resource"]));
    eachOf(ofResource, scopes, resourcePath, (sentScope, scopePath) => {
      const ofScope = asObject(sentScope, scopePath);
      const whole = { ...origin, scope: scopeOf(readFields(ofScope, scopes.message, scopePath)) };
      eachOf(ofScope, items, scopePath, (sent, path) => {
        // It has its ids under the field names of SentIds.
        const ids: SentIds = isRecord(sent) ? sent : {};
        taker.add(whole, ids, path, () => readFields(asObject(sent, path), items.message, path));
      });
    });
  });
}

/** The last of repeated keys wins, as in attributes. Only a string counts, while attributes read other types as text. */
function serviceNameOf(resource: unknown): string | null {
  const attributes = isRecord(resource) ? ((resource["attributes"] ?? []) as unknown[]) : [];
  const named = attributes.findLast(entry => isRecord(entry) && entry["key"] === "service.name");
  const value = (named as Json | undefined)?.["value"];
  const name = isRecord(value) ? value["stringValue"] : null;
  return typeof name === "string" && name !== "" ? name : null;
}

/** What is stored of a message, without its ids and its items. What is absent or null stays as `create` made it. */
function readFields(sent: Json, message: Message, path: string): Target {
  const target = message.create();
  for (const field of message.stored) {
    const value = sent[field.name] ?? null;
    if (value === null) continue;
    if (field.kind !== "message") {
      const read = readField(field, value, path);
      if (read || !field.isOptional) target[field.stored] = read;
    } else if (!field.isList) putMessage(target, field, readMessage(field, value, `${path}.${field.name}`));
    else eachOf(sent, field, path, (one, at) => putMessage(target, field, readMessage(field, one, at)));
  }
  return target;
}

function readMessage({ message }: Field, sent: unknown, path: string): Target {
  return readFields(asObject(sent, path), message, path);
}

function readField(field: Field, value: unknown, path: string): unknown {
  switch (field.kind) {
    case "text":
      if (typeof value === "string") return value;
      throw malformed(`${path}.${field.name}`, "must be a string");
    case "note":
      return typeof value === "string" ? value : "";
    case "id":
      return readId(value, field.name === "traceId" ? 32 : 16);
    case "time":
      return readTime(field, value, path);
    case "enum":
      return readEnum(field, value, path);
    case "attribute":
      return readAttributes(field, value, path);
    case "value":
      return readAnyValue(value);
    default:
      return readUint32(value);
  }
}

function readTime(field: Field, value: unknown, path: string): string | null {
  const time = readUint64(value);
  // The time of observation counts only where a log record has no other.
  if (time === undefined && !field.isOptional)
    throw malformed(`${path}.${field.name}`, "must be nanoseconds as a uint64");
  return time === undefined || time === "0" ? null : time;
}

function readEnum({ name, values }: Field, value: unknown, path: string): number {
  const number = typeof value === "string" && values.includes(value) ? values.indexOf(value) : value;
  if (Number.isInteger(number)) return number as number;
  throw malformed(`${path}.${name}`, `must be a number or one of ${values.join(", ")}`);
}

/** A number or decimal text. These fields only inform: one that cannot be read refuses nothing. */
function readUint32(value: unknown): number {
  const number = Number(readUint64(value) ?? 0);
  return number < 2 ** 32 ? number : 0;
}

function readAttributes(field: Field, value: unknown, path: string): Attributes {
  const attributes: Attributes = {};
  if (!Array.isArray(value)) throw malformed(`${path}.${field.name}`, "must be a list");
  for (let i = 0; i < value.length; i++) {
    const entry: unknown = value[i];
    const key = isRecord(entry) ? (entry["key"] ?? "") : undefined;
    if (typeof key !== "string") {
      throw malformed(`${path}.${field.name}[${i}]`, "must be an object with a key and a value");
    }
    setOwn(attributes, key, readAnyValue((entry as Json)["value"]));
  }
  return attributes;
}

/** Calls `use` for each item of a list, with its path. */
function eachOf(from: Json, { name }: Field, path: string, use: (item: unknown, path: string) => void): void {
  const list = from[name] ?? [];
  const listPath = path === "" ? name : `${path}.${name}`;
  if (!Array.isArray(list)) throw malformed(listPath, "must be a list");
  for (let i = 0; i < list.length; i++) use(list[i], `${listPath}[${i}]`);
}

function asObject(value: unknown, path: string): Json {
  if (isRecord(value)) return value;
  throw malformed(path, "must be an object");
}
