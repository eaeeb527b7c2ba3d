// Work whose cost the author of a test decides, put as a question so that it is done where it can be ended.

/** Characters of a value or a text beyond which nothing is asked. */
export const sandboxTextMax = 1_000_000;

/** `schema` and `value` are JSON text; a value that is not JSON is not valid. */
export type SandboxQuestion =
  | { kind: "schema"; schema: string; value: string }
  | { kind: "pattern"; pattern: string; flags: string; text: string };

/** `faults` says what is not valid: at most five sentences, none where it holds. */
export type SandboxAnswer =
  | { state: "ok"; holds: boolean; faults: string[] }
  | { state: "timeout" | "unavailable"; reason: string };
