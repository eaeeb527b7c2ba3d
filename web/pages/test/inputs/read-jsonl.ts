// Reads JSON lines into inputs: plain strings, or objects with the input in a field. A JSON list is read the same way.
import type { Candidates, LineFault } from "./candidates.ts";
import { likelyColumn } from "./likely-column.ts";

export type Jsonl = {
  kind: "jsonl";
  /** Of a JSON list, `line` is the position of the item. */
  unit: "line" | "item";
  rows: { line: number; value: string | Record<string, unknown> }[];
  faults: LineFault[];
  /** The fields that have a text in at least one object. */
  fields: string[];
};

const sampledRows = 100;

/** `text` without a byte order mark. Blank lines are ignored. */
export function readJsonl(text: string): Jsonl {
  const list = listOf(text);
  const read: Jsonl = { kind: "jsonl", unit: list ? "item" : "line", rows: [], faults: [], fields: [] };
  if (list) for (const [at, value] of list.entries()) add(read, at + 1, value);
  else {
    for (const [at, line] of text.split("\n").entries()) {
      if (!/\S/.test(line)) continue;
      try {
        add(read, at + 1, JSON.parse(line));
      } catch {
        read.faults.push({ line: at + 1, message: "Not valid JSON." });
      }
    }
  }
  const fields = new Set<string>();
  for (const { value } of read.rows) {
    if (typeof value === "string") continue;
    for (const [name, one] of Object.entries(value)) if (typeof one === "string") fields.add(name);
  }
  return { ...read, fields: [...fields] };
}

function listOf(text: string): unknown[] | undefined {
  if (!/^\s*\[/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function add({ rows, faults }: Jsonl, line: number, value: unknown): void {
  if (typeof value === "string") rows.push({ line, value });
  else if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    rows.push({ line, value: value as Record<string, unknown> });
  } else faults.push({ line, message: `Expected a text or an object, found ${typeOf(value)}.` });
}

/** Undefined if there are only plain strings. */
export function guessField({ rows, fields }: Jsonl): string | undefined {
  const objects = rows
    .slice(0, sampledRows)
    .flatMap(({ value }) => (typeof value === "string" ? [] : [value]));
  const sample = objects.map(object => fields.map(name => textOf(object[name])));
  return fields[likelyColumn(fields, sample)];
}

export function jsonlCandidates({ rows, faults }: Jsonl, field: string | undefined): Candidates {
  const candidates: Candidates = { inputs: [], faults: [...faults] };
  for (const { line, value } of rows) {
    const input = typeof value === "string" || field === undefined ? value : value[field];
    if (typeof input === "string") candidates.inputs.push({ line, input });
    else if (field === undefined) candidates.faults.push({ line, message: "No field with a text." });
    else if (input === undefined) candidates.faults.push({ line, message: `No field “${field}”.` });
    else candidates.faults.push({ line, message: `“${field}” is ${typeOf(input)}, not a text.` });
  }
  candidates.faults.sort((a, b) => a.line - b.line);
  return candidates;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  return typeof value === "boolean" ? "true or false" : `a ${typeof value}`;
}
