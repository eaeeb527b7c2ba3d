// Checks that several texts or spans may satisfy: one that holds is enough, and none fails while one is undecided.
import type { Check } from "../model/run/run.ts";
import type { OpenQuestions } from "./finding.ts";

/** What came of looking at one candidate. */
export type Try<T> =
  | { kind: "holds" | "fails"; value: T }
  | { kind: "skipped"; skipped: NonNullable<Check["skipped"]>; reason: string }
  | { kind: "open"; asked: Partial<OpenQuestions> };

export type AnyOf<T> =
  | { kind: "holds"; value: T }
  | { kind: "fails"; values: T[] }
  | { kind: "skipped"; skipped: NonNullable<Check["skipped"]>; reason: string }
  | (OpenQuestions & { kind: "open" });

const candidatesMax = 20;

/** Tries each candidate, the latest twenty of them, and says what they come to together. */
export function anyOf<C, T>(candidates: C[], attempt: (candidate: C) => Try<T>): AnyOf<T> {
  const open: OpenQuestions = { semantic: [], sandbox: [] };
  const values: T[] = [];
  let skipped: (Try<T> & { kind: "skipped" }) | undefined;
  if (candidates.length > candidatesMax) {
    const reason = `Of ${candidates.length} values only the latest ${candidatesMax} were looked at.`;
    skipped = { kind: "skipped", skipped: "limit", reason };
  }
  for (const candidate of candidates.slice(-candidatesMax)) {
    const tried = attempt(candidate);
    if (tried.kind === "holds") return { kind: "holds", value: tried.value };
    if (tried.kind === "fails") values.push(tried.value);
    if (tried.kind === "skipped" && (!skipped || hopeOf(tried) >= hopeOf(skipped))) skipped = tried;
    if (tried.kind === "open") {
      open.semantic.push(...(tried.asked.semantic ?? []));
      open.sandbox.push(...(tried.asked.sandbox ?? []));
    }
  }
  if (open.semantic.length + open.sandbox.length > 0) return { kind: "open", ...open };
  return skipped ?? { kind: "fails", values };
}

/** Of several reasons the one to tell is that which may still pass: what waits, then what an outage kept away. */
function hopeOf({ skipped }: { skipped: NonNullable<Check["skipped"]> }): number {
  if (skipped === "waiting") return 2;
  return skipped === "judge_unavailable" || skipped === "judge_unusable" ? 1 : 0;
}

/** The values with each key once, the latest of them. */
export function distinct<C>(values: C[], keyOf: (value: C) => string): C[] {
  return values.length < 2 ? values : [...new Map(values.map(value => [keyOf(value), value])).values()];
}
