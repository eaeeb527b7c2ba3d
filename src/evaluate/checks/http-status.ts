// http_status: whether the trace's HTTP status is one of those expected.

import type { AssertionOf } from "../../model/test-case/assertion.ts";
import type { CheckOf } from "../check-context.ts";
import { redacted } from "../redacted.ts";

const attribute = "http.response.status_code";

export const httpStatus: CheckOf<"http_status"> = ({ expected_status: expected }, { view }) => {
  const status = view.derived.httpStatus;
  if (!status && view.received) {
    const reason = { code: "no_response" } as const;
    return { kind: "absent", outcome: "failed", reason, expected, actual: null, evidence: [] };
  }
  const places = view.received ? [] : view.redactedNumber(attribute);
  if (places.length > 0) {
    return { ...redacted(places), expected, actual: null, evidence: view.placesOf(attribute) };
  }
  if (!status) {
    const sent = view.placesOf(attribute);
    const reason = { code: sent.length > 0 ? "unusable_http_status" : "no_http_status" } as const;
    const evidence = sent.length > 0 ? sent : view.rootWithout(attribute);
    return { kind: "absent", outcome: "missing_instrumentation", reason, expected, actual: null, evidence };
  }
  const { value: actual, spanId } = status;
  return {
    kind: "compared",
    holds: includesStatus(expected, actual),
    reason: { code: "http_status", data: { status: actual, expected } },
    expected,
    actual,
    evidence: [{ spanId, attribute: status.attribute, value: actual }],
  };
};

export function includesStatus(
  expected: AssertionOf<"http_status">["expected_status"],
  status: number,
): boolean {
  return typeof expected === "string"
    ? Math.floor(status / 100) === Number(expected[0])
    : [expected].flat().includes(status);
}
