// Compares values as JSON, without writing them as text: what both share is skipped.
import { isRecord } from "./record.ts";

/** Whether both are the same JSON; the order of fields does not count, and one that is undefined is absent. */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, at) => isSameJson(item, other[at]));
  }
  if (!isRecord(one) || !isRecord(other)) return false;
  const names = Object.keys({ ...one, ...other });
  return names.every(name => isSameJson(ownOf(one, name), ownOf(other, name)));
}

function ownOf(record: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
