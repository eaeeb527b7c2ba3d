// The issues that still hold while a changed document is not validated yet: those of values that are as they were.
import type { Issue } from "../../../src/model/refusal.ts";
import { isSameJson } from "../../same-json.ts";
import { keysOf } from "./json-text.ts";

/** `of`: the document that has the issues. */
export function currentIssues({ of, issues }: { of: object; issues: Issue[] }, document: object): Issue[] {
  if (of === document) return issues;
  return issues.filter(({ path }) => {
    const keys = keysOf(path);
    return isSameJson(valueAt(of, keys), valueAt(document, keys));
  });
}

function valueAt(value: unknown, keys: readonly (string | number)[]): unknown {
  let at = value;
  for (const key of keys) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<string | number, unknown>)[key];
  }
  return at;
}
