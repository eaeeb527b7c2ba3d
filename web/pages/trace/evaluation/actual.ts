// Reads what a check found: the spans it searched, or a value with its errors. A trace's own value may have the same keys.
import type { Check } from "../../../../src/model/run/run.ts";
import { isRecord } from "../../../record.ts";

/** The names of all spans, if none matched the target; null if the check found a value or a text. */
export function searchedOf({ actual, evidence }: Check): string[] | null {
  // A value or text is evidence of an attribute; searched spans are evidence by their names alone.
  if (!isRecord(actual) || evidence.some(({ attribute }) => attribute !== null)) return null;
  return Array.isArray(actual["searched"]) ? actual["searched"] : null;
}

/** json_schema: the value, with the errors if it is invalid. */
export function validatedOf(check: Check, negate: boolean): { value: unknown; faults: string[] } {
  const { actual, outcome } = check;
  const isValid = (outcome === "passed") !== negate;
  if (isValid || !isRecord(actual) || !Array.isArray(actual["faults"])) return { value: actual, faults: [] };
  return { value: actual["value"], faults: actual["faults"] };
}
