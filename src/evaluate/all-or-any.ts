// Combines the candidates of one check, such as the texts of several spans: whether any of them holds, or all do. The check is
// not decided while one that could change that is undecided.
import type { Reason } from "../model/run/reason.ts";
import type { Check } from "../model/run/run.ts";
import type { Match } from "../model/test-case/assertion.ts";
import type { OpenQuestions } from "./finding.ts";

/** What one candidate comes out as. `unread`: its value cannot be read, so it neither holds nor fails. */
export type Try<T> =
  | { kind: "holds" | "fails" | "unread"; value: T }
  | { kind: "skipped"; skipped: NonNullable<Check["skipped"]>; reason: Reason }
  | { kind: "open"; asked: Partial<OpenQuestions> };

/** `values`: of the candidate that decides alone, else of all; where some cannot be read and could change it, of those. */
export type Combined<T> =
  | { kind: "holds" | "fails" | "unread"; values: T[] }
  | { kind: "skipped"; skipped: NonNullable<Check["skipped"]>; reason: Reason }
  | (OpenQuestions & { kind: "open" });

const candidatesMax = 20;

/** Tries the latest twenty candidates until one decides: one that holds if any is enough, one that fails if all must hold. */
export function allOrAny<C, T>(
  match: Match,
  candidates: C[],
  attempt: (candidate: C) => Try<T>,
): Combined<T> {
  const open: OpenQuestions = { semantic: [], sandbox: [] };
  const values: T[] = [];
  const unread: T[] = [];
  let skipped: (Try<T> & { kind: "skipped" }) | undefined;
  let inapplicable: typeof skipped;
  if (candidates.length > candidatesMax) {
    const data = { values: candidates.length, max: candidatesMax };
    skipped = { kind: "skipped", skipped: "limit", reason: { code: "too_many_values", data } };
  }
  for (const candidate of candidates.slice(-candidatesMax)) {
    const tried = attempt(candidate);
    if (tried.kind === "holds" || tried.kind === "fails") {
      if (tried.kind === decidingOf(match)) return { kind: tried.kind, values: [tried.value] };
      values.push(tried.value);
    }
    if (tried.kind === "unread") unread.push(tried.value);
    if (tried.kind === "skipped" && tried.skipped === "does_not_apply") inapplicable = tried;
    else if (tried.kind === "skipped" && (!skipped || rankOf(tried) >= rankOf(skipped))) skipped = tried;
    if (tried.kind === "open") {
      open.semantic.push(...(tried.asked.semantic ?? []));
      open.sandbox.push(...(tried.asked.sandbox ?? []));
    }
  }
  if (open.semantic.length + open.sandbox.length > 0) return { kind: "open", ...open };
  if (skipped) return skipped;
  if (unread.length > 0) return { kind: "unread", values: unread };
  if (values.length === 0 && inapplicable) return inapplicable;
  return { kind: match === "any" ? "fails" : "holds", values };
}

/** What one candidate must come out as to decide the check alone. */
export function decidingOf(match: Match): "holds" | "fails" {
  return match === "any" ? "holds" : "fails";
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
