// Questions to the sandbox, a thread that can be killed: user-defined patterns and schemas can be arbitrarily slow.
import type { SandboxReason } from "./run/reason.ts";

/** In characters. Longer values and texts are not checked. */
export const sandboxTextMax = 1_000_000;

/** `schema` and `value` are JSON text; a value that is not JSON is invalid. */
export type SandboxQuestion =
  | { kind: "schema"; schema: string; value: string }
  | { kind: "pattern"; pattern: string; flags: string; text: string };

/** `faults`: at most five sentences that say what is invalid; empty if `holds`. */
export type SandboxAnswer =
  | { state: "ok"; holds: boolean; faults: string[] }
  | { state: "timeout" | "unavailable"; reason: SandboxReason };
