// http_status: whether the trace's HTTP status is one of those expected.
import type { CheckOf } from "../finding.ts";

const attribute = "http.response.status_code";

export const httpStatus: CheckOf<"http_status"> = ({ expected_status: expected }, { view }) => {
  const status = view.derived.httpStatus;
  if (!status) {
    const reason = { code: "no_http_status" } as const;
    const evidence = view.rootWithout(attribute);
    return { kind: "absent", outcome: "missing_instrumentation", reason, expected, actual: null, evidence };
  }
  const { value: actual, spanId } = status;
  const holds =
    typeof expected === "string"
      ? Math.floor(actual / 100) === Number(expected[0])
      : [expected].flat().includes(actual);
  return {
    kind: "compared",
    holds,
    reason: { code: "http_status", data: { status: actual, expected } },
    expected,
    actual,
    evidence: [{ spanId, attribute: status.attribute, value: actual }],
  };
};
