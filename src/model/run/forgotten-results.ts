// Results of a trace whose content was dropped: verdicts, counts, names and places stay, quotations and comments go.

import type { Reason, ReasonCode } from "./reason.ts";
import { type ReasonFields, reasonFields } from "./reason-text.ts";
import type { Applicability, Check, Evidence, Result, SemanticActual } from "./run.ts";

type Judged = { results: Result[]; tests: Applicability[] };

/** The same again for what it gave. The copies of tests stay. */
export function forgottenResults<D extends Judged>(detail: D): D {
  return {
    ...detail,
    results: detail.results.map(result => ({
      ...result,
      ...reasonWithoutTexts(result),
      checks: result.checks.map(checkWithoutTexts),
    })),
    tests: detail.tests.map(applicabilityWithoutTexts),
  };
}

/** A place that a check looked at, without what was there. */
export function placeOnly({ value: _, ...place }: Evidence): Evidence {
  return place;
}

function checkWithoutTexts({ match: _, ...check }: Check): Check {
  return {
    ...check,
    ...reasonWithoutTexts(check),
    actual: actualWithoutTexts(check),
    evidence: check.evidence.map(placeOnly),
    forgotten: true,
  };
}

function actualWithoutTexts({ type, actual }: Check): unknown {
  switch (type) {
    case "response_regex":
    case "json_match":
    case "json_schema":
      return null;
    case "tool_call":
      return without(actual, ["differences"]);
    case "semantic":
      return semanticWithoutTexts(actual);
    // Numbers, and names of spans.
    case "http_status":
    case "token_limit":
    case "response_time":
    case "node_call":
      return actual;
  }
}

function without(value: unknown, keys: string[]): unknown {
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)));
}

function semanticWithoutTexts(actual: unknown): unknown {
  const { criteria } = (actual ?? {}) as Partial<SemanticActual>;
  if (!criteria) return actual;
  return {
    ...(actual as SemanticActual),
    criteria: criteria.map(({ quotes, ...criterion }) => ({
      ...criterion,
      evidence: "",
      reason: "",
      ...(quotes && { quotes: quotes.map(quote => ({ ...quote, text: "" })) }),
    })),
  };
}

/** The data of reasons that quote a trace, or say something about it in the judge's words. */
const texts: Partial<Record<ReasonCode, string[]>> = {
  judge_score: ["comment"],
  judge_undecided: ["comment"],
  judge_withheld: ["comment"],
  does_not_apply: ["comment"],
  scenario_no_match: ["comment"],
  schema_invalid: ["fault"],
  sandbox_failed: ["message"],
};

function reasonWithoutTexts({ reason, reasonCode, reasonData }: ReasonFields): ReasonFields {
  const quoting = (texts[reasonCode] ?? []).filter(key => reasonData?.[key] !== undefined);
  if (quoting.length === 0) return { reason, reasonCode, ...(reasonData && { reasonData }) };
  const data = { ...reasonData, ...Object.fromEntries(quoting.map(key => [key, ""])) };
  return reasonFields({ code: reasonCode, data } as Reason);
}

/** Of a scenario, the reason is what the judge said about the user's input. */
function applicabilityWithoutTexts({
  reason,
  reasonCode,
  reasonData,
  ...test
}: Applicability): Applicability {
  return reason === undefined || reasonCode === undefined
    ? test
    : { ...test, ...reasonWithoutTexts({ reason, reasonCode, ...(reasonData && { reasonData }) }) };
}
