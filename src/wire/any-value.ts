// Converts OTLP attribute values (AnyValue) to plain JSON; unreadable values become null or text.
import { isRecord } from "../model/record.ts";
import { setOwn } from "../model/set-own.ts";
import type { Attributes } from "../model/trace/trace.ts";

/**
 * The value of an AnyValue: its first known field that is not null. Never throws on JSON from parseJson, whose nesting is
 * limited.
 */
export function readAnyValue(value: unknown): unknown {
  if (!isRecord(value)) return readable(value);
  for (const kind in value) {
    const content = value[kind];
    if (content === null) continue;
    switch (kind) {
      case "stringValue":
      case "bytesValue":
        return readable(content);
      case "boolValue":
        return typeof content === "boolean" ? content : readable(content);
      case "intValue":
        return readInteger(content);
      case "doubleValue":
        return readDouble(content);
      case "arrayValue":
        return readItems(content)?.map(readAnyValue) ?? null;
      case "kvlistValue":
        return readKeyValues(content);
    }
  }
  return null;
}

/** Integers beyond ±(2^53−1) become decimal text, however they were written. */
function readInteger(content: unknown): unknown {
  if (typeof content === "string" && !/^-?\d{1,400}$/.test(content)) return content;
  if (typeof content === "number" && !Number.isInteger(content)) return String(content);
  if (typeof content !== "string" && typeof content !== "number" && typeof content !== "bigint") {
    return readable(content);
  }
  const number = Number(content);
  // Adding 0 turns −0, which JSON cannot store, into 0.
  return Number.isSafeInteger(number) ? number + 0 : BigInt(content).toString();
}

/** NaN and infinities become text. A long integer is read as a double. */
function readDouble(content: unknown): unknown {
  if (typeof content === "string" && !/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(content)) return content;
  if (typeof content !== "string" && typeof content !== "number" && typeof content !== "bigint") {
    return readable(content);
  }
  return finite(Number(content));
}

/** The number, or its name ("NaN", "Infinity") if JSON cannot represent it. */
export function finite(number: number): number | string {
  return Number.isFinite(number) ? number + 0 : String(number);
}

function readKeyValues(content: unknown): Attributes | null {
  const items = readItems(content);
  if (items === null) return null;
  const object: Attributes = {};
  for (const item of items) {
    // JSON may leave out an empty key.
    const key = isRecord(item) ? (item["key"] ?? "") : undefined;
    if (typeof key === "string") setOwn(object, key, readAnyValue((item as Attributes)["value"]));
  }
  return object;
}

/** The `values` of a list; empty if absent, null if it is not a list. */
function readItems(content: unknown): unknown[] | null {
  if (!isRecord(content)) return null;
  const values = content["values"] ?? [];
  return Array.isArray(values) ? values : null;
}

/** A value of an unexpected type as text; null if it is not a scalar. */
function readable(content: unknown): string | null {
  if (typeof content === "string") return content;
  return typeof content === "number" || typeof content === "boolean" || typeof content === "bigint"
    ? String(content)
    : null;
}
