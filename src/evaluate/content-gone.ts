// Checks of content that is not stored: they cannot be decided, and nothing of a reply that is in memory is kept in results.
import { placeOnly } from "../model/run/forgotten-results.ts";
import type { Assertion } from "../model/test-case/assertion.ts";
import type { Finding } from "./finding.ts";
import type { TraceView } from "./trace-view.ts";

type Decided = Exclude<Finding, { kind: "open" }>;

/** Null unless the assertion looks at content that the trace does not have: missing instrumentation, whatever its outcome would be. */
export function contentGone(assertion: Assertion, view: TraceView): Decided | null {
  if (view.content === undefined || !needsContent(assertion) || isInMemory(assertion, view)) return null;
  return {
    kind: "absent",
    outcome: "missing_instrumentation",
    reason: { code: "content_not_stored" },
    expected: null,
    actual: null,
    evidence: [],
  };
}

function needsContent(assertion: Assertion): boolean {
  switch (assertion.type) {
    case "response_regex":
    case "semantic":
    case "json_match":
    case "json_schema":
      return true;
    case "tool_call":
      return assertion.expected_arguments !== undefined;
    default:
      return false;
  }
}

/** In a manual run, while it lasts: the reply that Onlooker itself received. The judge is never asked about it. */
function isInMemory(assertion: Assertion, { received }: TraceView): boolean {
  return (
    assertion.type === "response_regex" && assertion.target_node === undefined && received?.reply === true
  );
}

/** What is stored of a finding: the places that it looked at, without texts. */
export function withoutTexts(assertion: Assertion, view: TraceView, finding: Finding): Finding {
  if (view.content === undefined || finding.kind === "open" || !needsContent(assertion)) return finding;
  const kept = { ...finding, actual: null, evidence: finding.evidence.map(placeOnly) };
  if (kept.kind === "compared") delete kept.match;
  return kept;
}
