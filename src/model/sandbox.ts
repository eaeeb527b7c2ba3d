// Questions for the sandbox: work whose cost the author of a test decides, done in a thread that can be killed.
import type { SandboxReason } from "./run/reason.ts";

/** Longer values and texts are not checked. In characters. */
export const sandboxTextMax = 1_000_000;

/** `schema` and `value` are JSON text; a value that is not JSON is not valid. */
export type SandboxQuestion =
  | { kind: "schema"; schema: string; value: string }
  | { kind: "pattern"; pattern: string; flags: string; text: string };

/** `faults`: what is invalid, in at most five sentences; none where it holds. */
export type SandboxAnswer =
  | { state: "ok"; holds: boolean; faults: string[] }
  | { state: "timeout" | "unavailable"; reason: SandboxReason };
