// Writes an OTLP JSON request as protobuf where both can say the same, and compares what the two decoders make of it.
import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../src/model/record.ts";
import { Refusal } from "../src/model/refusal.ts";
import { decodeBody } from "../src/wire/body.ts";
import { parseJson } from "../src/wire/json.ts";
import { decodeLimits } from "../src/wire/limits.ts";

/** Thrown where protobuf cannot say what the JSON says. */
class Unsayable extends Error {}

const unlimited = { ...decodeLimits, nestingMax: 10_000 };

/** What differs, or undefined: nothing, or protobuf cannot say the same. */
export function differenceOfEncodings(json: Buffer): string | undefined {
  let protobuf: Buffer;
  try {
    protobuf = request(parseJson(json, decodeLimits).value);
  } catch (error) {
    if (error instanceof Unsayable || error instanceof Refusal) return undefined;
    throw error;
  }
  const [one, other] = [resultOf(json, "json"), resultOf(protobuf, "protobuf")];
  // The two encodings count nesting and values differently.
  if (typeof one === "string" || typeof other === "string") return undefined;
  if (one.length !== other.length) return `${one.length} and ${other.length} groups`;
  for (const [at, group] of one.entries()) {
    const same = other[at]!;
    if (group.refusal?.code !== same.refusal?.code)
      return `group ${at}: ${group.refusal?.code ?? "accepted"} and ${same.refusal?.code ?? "accepted"}`;
    if (!isDeepStrictEqual({ ...group, refusal: null }, { ...same, refusal: null }))
      return `group ${at}: ${firstDifference(group.batch, same.batch, "batch") ?? "service, trace or count"}`;
  }
  return undefined;
}

function resultOf(bytes: Buffer, mediaType: "json" | "protobuf") {
  try {
    const body = decodeBody(bytes, mediaType, unlimited);
    return body.path === "otlp" ? body.groups : "canonical";
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
}

function firstDifference(one: unknown, other: unknown, path: string): string | undefined {
  if (isDeepStrictEqual(one, other)) return undefined;
  if (typeof one === "object" && typeof other === "object" && one && other) {
    for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
      const [a, b] = [(one as Json)[key], (other as Json)[key]];
      const found = firstDifference(a, b, `${path}.${key.slice(0, 40)}`);
      if (found) return found;
    }
  }
  return `${path}: ${JSON.stringify(one)?.slice(0, 100)} and ${JSON.stringify(other)?.slice(0, 100)}`;
}

type Json = Record<string, unknown>;
const no = (): never => {
  throw new Unsayable();
};

function request(body: unknown): Buffer {
  if (!isRecord(body) || (body["spans"] ?? null) !== null) return no();
  return all(body, "resourceSpans", entry =>
    sized(1, [
      ...resource(entry["resource"]),
      all(entry, "scopeSpans", scopeSpans =>
        sized(2, [
          ...scope(scopeSpans["scope"]),
          all(scopeSpans, "spans", span),
          text(3, scopeSpans["schemaUrl"]),
        ]),
      ),
      text(3, entry["schemaUrl"]),
    ]),
  );
}

function resource(sent: unknown): Buffer[] {
  if ((sent ?? null) === null) return [];
  const from = isRecord(sent) ? sent : no();
  return [sized(1, [attributes(1, from), uint32(2, from["droppedAttributesCount"])])];
}

function scope(sent: unknown): Buffer[] {
  if ((sent ?? null) === null) return [];
  const from = isRecord(sent) ? sent : no();
  const { name, version, droppedAttributesCount } = from;
  return [
    sized(1, [text(1, name), text(2, version), attributes(3, from), uint32(4, droppedAttributesCount)]),
  ];
}

function span(from: Json): Buffer {
  return sized(2, [
    id(1, from["traceId"]),
    id(2, from["spanId"]),
    text(3, from["traceState"]),
    id(4, from["parentSpanId"]),
    text(5, from["name"]),
    choice(
      6,
      from["kind"],
      ["UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"],
      "SPAN_KIND_",
    ),
    time(7, from["startTimeUnixNano"]),
    time(8, from["endTimeUnixNano"]),
    attributes(9, from),
    uint32(10, from["droppedAttributesCount"]),
    all(from, "events", event =>
      sized(11, [
        time(1, event["timeUnixNano"]),
        text(2, event["name"]),
        attributes(3, event),
        uint32(4, event["droppedAttributesCount"]),
      ]),
    ),
    uint32(12, from["droppedEventsCount"]),
    all(from, "links", link =>
      sized(13, [
        id(1, link["traceId"]),
        id(2, link["spanId"]),
        text(3, link["traceState"]),
        attributes(4, link),
        uint32(5, link["droppedAttributesCount"]),
        fixed32(6, link["flags"]),
      ]),
    ),
    uint32(14, from["droppedLinksCount"]),
    ...status(from["status"]),
    fixed32(16, from["flags"]),
  ]);
}

function status(sent: unknown): Buffer[] {
  if ((sent ?? null) === null) return [];
  const from = isRecord(sent) ? sent : no();
  return [
    sized(15, [text(2, from["message"]), choice(3, from["code"], ["UNSET", "OK", "ERROR"], "STATUS_CODE_")]),
  ];
}

function all(from: Json, field: string, write: (item: Json) => Buffer): Buffer {
  const items = from[field] ?? [];
  if (!Array.isArray(items)) return no();
  return Buffer.concat(items.map(item => (isRecord(item) ? write(item) : no())));
}

function attributes(number: number, from: Json): Buffer {
  return all(from, "attributes", entry =>
    sized(number, [text(1, entry["key"]), ...value(2, entry["value"])]),
  );
}

function value(number: number, sent: unknown): Buffer[] {
  if ((sent ?? null) === null) return [];
  return [sized(number, [anyValue(isRecord(sent) ? sent : no())])];
}

/** The first known kind that is not null counts. */
function anyValue(from: Json): Buffer {
  for (const [kind, content] of Object.entries(from)) {
    if (content === null) continue;
    switch (kind) {
      case "stringValue":
        return sized(1, [utf8(content)]);
      case "boolValue":
        return typeof content === "boolean" ? varint(2, BigInt(content)) : no();
      case "intValue":
        return varint(3, BigInt.asUintN(64, int64(content)));
      case "doubleValue":
        return double(content);
      case "arrayValue":
        return sized(5, [isRecord(content) ? values(content) : no()]);
      case "kvlistValue":
        return sized(6, [
          all(isRecord(content) ? content : no(), "values", entry =>
            sized(1, [text(1, entry["key"]), ...value(2, entry["value"])]),
          ),
        ]);
      case "bytesValue": {
        const bytes = Buffer.from(String(content), "base64");
        return bytes.toString("base64") === content ? sized(7, [bytes]) : no();
      }
    }
  }
  return Buffer.alloc(0);
}

function values({ values = [] }: Json): Buffer {
  if (!Array.isArray(values)) return no();
  return Buffer.concat(
    values.map(item => (item === null ? sized(1, []) : isRecord(item) ? sized(1, [anyValue(item)]) : no())),
  );
}

function int64(content: unknown): bigint {
  const isDigits = typeof content === "string" && /^-?\d{1,30}$/.test(content);
  const isInteger = typeof content === "bigint" || Number.isInteger(content);
  const number = isDigits || isInteger ? BigInt(content as string) : no();
  return number === BigInt.asIntN(64, number) ? number : no();
}

function double(content: unknown): Buffer {
  const isText =
    typeof content === "string" && /^-?(\d+(\.\d+)?([eE][+-]?\d+)?|Infinity)$|^NaN$/.test(content);
  if (!isText && typeof content !== "number" && typeof content !== "bigint") return no();
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(Number(content));
  return Buffer.concat([tag(4, 1), bytes]);
}

function text(number: number, content: unknown): Buffer {
  return (content ?? null) === null ? Buffer.alloc(0) : sized(number, [utf8(content)]);
}

function utf8(content: unknown): Buffer {
  return typeof content === "string" && content.isWellFormed() ? Buffer.from(content) : no();
}

function id(number: number, content: unknown): Buffer {
  if ((content ?? null) === null) return Buffer.alloc(0);
  const isHex = typeof content === "string" && /^([0-9a-f]{2})*$/i.test(content);
  return isHex ? sized(number, [Buffer.from(content, "hex")]) : no();
}

function uint(content: unknown, max: bigint): bigint {
  const isDigits = typeof content === "string" && /^\d{1,20}$/.test(content);
  const isInteger = typeof content === "bigint" || Number.isInteger(content);
  const number = isDigits || isInteger ? BigInt(content as string) : no();
  return number >= 0n && number <= max ? number : no();
}

function uint32(number: number, content: unknown): Buffer {
  return (content ?? null) === null ? Buffer.alloc(0) : varint(number, uint(content, 2n ** 32n - 1n));
}

function fixed32(number: number, content: unknown): Buffer {
  if ((content ?? null) === null) return Buffer.alloc(0);
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(Number(uint(content, 2n ** 32n - 1n)));
  return Buffer.concat([tag(number, 5), bytes]);
}

function time(number: number, content: unknown): Buffer {
  if ((content ?? null) === null) return Buffer.alloc(0);
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(uint(content, 2n ** 64n - 1n));
  return Buffer.concat([tag(number, 1), bytes]);
}

function choice(number: number, content: unknown, names: string[], prefix: string): Buffer {
  if ((content ?? null) === null) return Buffer.alloc(0);
  const named = typeof content === "string" ? names.indexOf(content.slice(prefix.length)) : content;
  if (typeof content === "string" && (named === -1 || !content.startsWith(prefix))) return no();
  const isInt32 = Number.isInteger(named) && (named as number) === ((named as number) | 0);
  return isInt32 ? varint(number, BigInt.asUintN(64, BigInt(named as number))) : no();
}

function sized(number: number, parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([tag(number, 2), varintBytes(BigInt(content.length)), content]);
}

function varint(number: number, value: bigint): Buffer {
  return Buffer.concat([tag(number, 0), varintBytes(value)]);
}

const tag = (number: number, wire: number) => varintBytes(BigInt(number * 8 + wire));

function varintBytes(value: bigint): Buffer {
  const bytes: number[] = [];
  let left = value;
  for (; left > 127n; left >>= 7n) bytes.push(Number(left & 127n) | 128);
  return Buffer.from([...bytes, Number(left)]);
}
