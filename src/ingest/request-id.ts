// Reads a trace's identity from the x-request-id header.
import { Refusal } from "../model/refusal.ts";

/** Undefined if absent or empty. Throws VALIDATION_ERROR for an invalid value. */
export function readRequestId(values: string[]): string | undefined {
  if (values.length > 1) throw invalid("The x-request-id header was sent more than once.");
  const value = values[0] ?? "";
  if (value === "") return undefined;
  if (!/^[\x20-\x7e]{1,255}$/.test(value)) throw invalid("Invalid x-request-id header.");
  return value;
}

function invalid(message: string): Refusal {
  return new Refusal("VALIDATION_ERROR", {
    message,
    hint: "Send it once, with 1 to 255 printable ASCII characters, or leave it out.",
    issues: [{ path: "headers['x-request-id']", message: "1 to 255 printable ASCII characters" }],
  });
}
