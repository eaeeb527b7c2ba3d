// http_status: whether the trace's HTTP status is one of those expected.
import type { CheckOf } from "../finding.ts";

const attribute = "http.response.status_code";

export const httpStatus: CheckOf<"http_status"> = ({ expected_status: expected }, { view }) => {
  const status = view.derived.httpStatus;
  if (!status) {
    const reason = `The trace does not say its HTTP status: ${attribute} is absent.`;
    const evidence = view.rootWithout(attribute);
    return { kind: "absent", outcome: "missing_instrumentation", reason, expected, actual: null, evidence };
  }
  const { value: actual, spanId } = status;
  const holds =
    typeof expected === "string"
      ? Math.floor(actual / 100) === Number(expected[0])
      : [expected].flat().includes(actual);
  const wanted = Array.isArray(expected) ? `one of ${expected.join(", ")}` : expected;
  return {
    kind: "compared",
    holds,
    fact: `The HTTP status is ${actual} (expected: ${wanted})`,
    expected,
    actual,
    evidence: [{ spanId, attribute: status.attribute, value: actual }],
  };
};
