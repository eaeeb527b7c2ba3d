// Combines the candidates of one check, such as several texts: one that holds is enough, and the check does not fail
// while any of them is undecided.
import type { Reason } from "../model/run/reason.ts";
import type { Check } from "../model/run/run.ts";
import type { OpenQuestions } from "./finding.ts";

/** What one candidate comes out as. */
export type Try<T> =
  | { kind: "holds" | "fails"; value: T }
  | { kind: "skipped"; skipped: NonNullable<Check["skipped"]>; reason: Reason }
  | { kind: "open"; asked: Partial<OpenQuestions> };

export type AnyOf<T> =
  | { kind: "holds"; value: T }
  | { kind: "fails"; values: T[] }
  | { kind: "skipped"; skipped: NonNullable<Check["skipped"]>; reason: Reason }
  | (OpenQuestions & { kind: "open" });

const candidatesMax = 20;

/** Tries the latest twenty candidates until one holds. Those to which the check does not apply are left out. */
export function anyOf<C, T>(candidates: C[], attempt: (candidate: C) => Try<T>): AnyOf<T> {
  const open: OpenQuestions = { semantic: [], sandbox: [] };
  const values: T[] = [];
  let skipped: (Try<T> & { kind: "skipped" }) | undefined;
  let inapplicable: typeof skipped;
  if (candidates.length > candidatesMax) {
    const data = { values: candidates.length, max: candidatesMax };
    skipped = { kind: "skipped", skipped: "limit", reason: { code: "too_many_values", data } };
  }
  for (const candidate of candidates.slice(-candidatesMax)) {
    const tried = attempt(candidate);
    if (tried.kind === "holds") return { kind: "holds", value: tried.value };
    if (tried.kind === "fails") values.push(tried.value);
    if (tried.kind === "skipped" && tried.skipped === "does_not_apply") inapplicable = tried;
    else if (tried.kind === "skipped" && (!skipped || rankOf(tried) >= rankOf(skipped))) skipped = tried;
    if (tried.kind === "open") {
      open.semantic.push(...(tried.asked.semantic ?? []));
      open.sandbox.push(...(tried.asked.sandbox ?? []));
    }
  }
  if (open.semantic.length + open.sandbox.length > 0) return { kind: "open", ...open };
  if (values.length === 0) skipped ??= inapplicable;
  return skipped ?? { kind: "fails", values };
}

/** Of several reasons the check reports the one that may still be settled: waiting first, then an outage. */
function rankOf({ skipped }: { skipped: NonNullable<Check["skipped"]> }): number {
  if (skipped === "waiting") return 2;
  return skipped === "judge_unavailable" || skipped === "judge_unusable" ? 1 : 0;
}

/** Keeps the latest value of each key. */
export function distinct<C>(values: C[], keyOf: (value: C) => string): C[] {
  return values.length < 2 ? values : [...new Map(values.map(value => [keyOf(value), value])).values()];
}
