// Reducer of the test case editor: one document behind the form and the JSON, and every change to it.
import type { AssertionType } from "../../../src/model/test-case/assertion.ts";
import { isRecord } from "../../record.ts";
import { isSameJson } from "../../same-json.ts";
import { readText, type TextFault } from "./json-text.ts";

/** A test case being written: any field may be absent or have the wrong type. */
export type Doc = Record<string, unknown>;

export type Editing = {
  document: Doc;
  /** As typed in the JSON editor; undefined: it shows the document, indented. */
  typed: string | undefined;
  /** Why the text does not parse. */
  fault: TextFault | undefined;
  /** A React key for each assertion, independent of its position and id. */
  keys: number[];
  nextKey: number;
  /** The assertion that was drafted from a trace, which is marked as new. */
  keyFromTrace: number | undefined;
  /** Where the focus goes after this change; a new object each time, so that an effect sees it. */
  focus:
    | { key: number | undefined; part: "first" | "up" | "down" | "duplicate" | "add"; isNew?: boolean }
    | undefined;
};

export type Change =
  | { kind: "field"; name: string; value: unknown }
  /** Saved on its own; keeps JSON that does not parse. */
  | { kind: "status"; status: string }
  | { kind: "text"; text: string }
  | { kind: "format" }
  | { kind: "replace"; document: Doc }
  /** `typed`: the document when it was sent. */
  | { kind: "saved"; typed: Doc; document: Doc }
  /** A field of the assertion with this key, wherever it has moved. */
  | { kind: "part"; key: number; name: string; value: unknown }
  | { kind: "insert"; at: number; value: unknown; isFromTrace?: boolean }
  | { kind: "copy"; at: number }
  | { kind: "remove"; at: number }
  /** Undoes a removal. */
  | { kind: "restore"; at: number; value: unknown }
  | { kind: "move"; at: number; by: -1 | 1 };

export function begin(document: Doc): Editing {
  const keys = assertionsOf(document).map((_, at) => at);
  return {
    document,
    typed: undefined,
    fault: undefined,
    keys,
    nextKey: keys.length,
    keyFromTrace: undefined,
    focus: undefined,
  };
}

export function edit(state: Editing, change: Change): Editing {
  const { document, keys, nextKey } = state;
  const assertions = assertionsOf(document);
  switch (change.kind) {
    case "field":
      return withDocument(state, withField(document, change.name, change.value));
    case "status": {
      const changed = withField(document, "status", change.status);
      return state.fault ? { ...state, document: changed } : withDocument(state, changed);
    }
    case "text":
      return readDocument(state, change.text);
    case "format":
      return { ...state, typed: undefined, fault: undefined };
    case "replace":
      return begin(change.document);
    case "saved":
      // The user typed while the request ran: keep that, it is not saved yet.
      if (state.document !== change.typed || state.fault) return state;
      // Keep the text as typed if the server stored exactly that.
      return isSameJson(change.typed, change.document) ? state : withDocument(state, change.document);
    case "part": {
      const at = keys.indexOf(change.key);
      const assertion = assertions[at];
      if (!isRecord(assertion)) return state;
      const value = withField(assertion, change.name, change.value);
      return withDocument(state, { ...document, assertions: assertions.with(at, value) });
    }
    case "insert":
      return {
        ...withDocument(state, { ...document, assertions: assertions.toSpliced(change.at, 0, change.value) }),
        keys: keys.toSpliced(change.at, 0, nextKey),
        nextKey: nextKey + 1,
        keyFromTrace: change.isFromTrace ? nextKey : state.keyFromTrace,
        focus: { key: nextKey, part: "first", isNew: true },
      };
    case "copy": {
      const original = assertions[change.at];
      const value = isRecord(original) ? { ...original, id: freeId(document) } : original;
      return edit(state, { kind: "insert", at: change.at + 1, value });
    }
    case "remove":
      return {
        ...withDocument(state, { ...document, assertions: assertions.toSpliced(change.at, 1) }),
        keys: keys.toSpliced(change.at, 1),
        focus: { key: keys[change.at + 1] ?? keys[change.at - 1], part: keys.length > 1 ? "first" : "add" },
      };
    case "restore": {
      const { at, value } = change;
      // Another assertion may have got its id meanwhile.
      const isTaken = isRecord(value) && idsOf(assertions).includes(value["id"]);
      return edit(state, { kind: "insert", at, value: isTaken ? { ...value, id: freeId(document) } : value });
    }
    case "move": {
      const to = change.at + change.by;
      if (to < 0 || to >= assertions.length) return state;
      return {
        ...withDocument(state, { ...document, assertions: swapped(assertions, change.at, to) }),
        keys: swapped(keys, change.at, to),
        focus: { key: keys[change.at], part: change.by < 0 ? "up" : "down" },
      };
    }
  }
}

/** The document's assertions; none if `assertions` is not a list. */
export function assertionsOf(document: Doc): unknown[] {
  return Array.isArray(document["assertions"]) ? document["assertions"] : [];
}

/** The criteria whose class the judge chooses, each once. */
export function criteriaLeftToJudge(document: Doc): string[] {
  const texts = assertionsOf(document).flatMap(assertion =>
    isRecord(assertion) && assertion["type"] === "semantic" ? [assertion["criteria"]].flat() : [],
  );
  return [...new Set(texts.filter(text => typeof text === "string" && text !== ""))] as string[];
}

/** The document with the field set, or without it if the value is undefined. */
function withField(document: Doc, name: string, value: unknown): Doc {
  const { [name]: _, ...rest } = document;
  if (value === undefined) return rest;
  // A field keeps its position in the JSON.
  return Object.hasOwn(document, name) ? { ...document, [name]: value } : { ...rest, [name]: value };
}

/** An assertion id that is unused, also by assertions that depend on one that was removed. */
export function freeId(document: Doc): string {
  const assertions = assertionsOf(document);
  const dependencies = assertions.flatMap(one => (isRecord(one) ? [one["depends_on"]].flat() : []));
  const taken = [...idsOf(assertions), ...dependencies];
  let number = 1;
  while (taken.includes(`a${number}`)) number += 1;
  return `a${number}`;
}

function idsOf(assertions: unknown[]): unknown[] {
  return assertions.flatMap(one => (isRecord(one) && one["id"] !== undefined ? [one["id"]] : []));
}

/** What the JSON editor shows. A thousand inputs make a million characters, so it is not kept with every change. */
export function textOf({ typed, document }: Pick<Editing, "typed" | "document">): string {
  return typed ?? jsonText(document);
}

export function jsonText(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? "";
}

/** The fields of a new assertion: common values, or empty where only the author knows. */
export const newAssertions: Record<AssertionType, Doc> = {
  node_call: { expected_name: "", min: 1 },
  tool_call: { expected_name: "", min: 1 },
  token_limit: { max_total: 10_000 },
  http_status: { expected_status: "2xx" },
  response_time: { max_ms: 10_000 },
  response_regex: { pattern: "", flags: "i" },
  semantic: { criteria: "" },
  json_match: { target_node: "", field: "", expected_value: "" },
  json_schema: { target_node: "", field: "", schema: { type: "object" } },
};

export const blank: Doc = {
  name: "",
  status: "active",
  passiveBehavior: "run_when_relevant",
  scenario: "",
  threshold: 0.7,
  turns: [{ input: "" }],
  assertions: [],
};

function withDocument(state: Editing, document: Doc): Editing {
  return { ...state, document, typed: undefined, fault: undefined, focus: undefined };
}

/** Text that does not parse leaves the document unchanged. */
function readDocument(state: Editing, text: string): Editing {
  const read = readText(text);
  if (!read.ok) return { ...state, typed: text, fault: read.fault };
  if (!isRecord(read.value)) {
    const fault = { message: "A test case must be an object: { … }.", offset: 0, line: 1, column: 1 };
    return { ...state, typed: text, fault };
  }
  const document = reuseAssertions(read.value, state.document);
  const count = assertionsOf(document).length;
  const missing = Math.max(0, count - state.keys.length);
  const more = Array.from({ length: missing }, (_, at) => state.nextKey + at);
  return {
    ...state,
    document,
    typed: text,
    fault: undefined,
    keys: [...state.keys.slice(0, count), ...more],
    nextKey: state.nextKey + missing,
  };
}

/** Keeps unchanged assertions as the same objects, so that only changed cards render again. */
function reuseAssertions(document: Doc, earlier: Doc): Doc {
  if (!Array.isArray(document["assertions"])) return document;
  const before = assertionsOf(earlier);
  const assertions = document["assertions"].map((one: unknown, at) =>
    isSameJson(one, before[at]) ? before[at] : one,
  );
  return { ...document, assertions };
}

function swapped<T>(list: T[], a: number, b: number): T[] {
  return list.with(a, list[b]!).with(b, list[a]!);
}
