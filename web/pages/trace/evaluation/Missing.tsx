// Missing instrumentation: where the check looked, and the code that adds what it did not find.
import { Link } from "@tanstack/react-router";
import type { Check } from "../../../../src/model/run/run.ts";
import type { Assertion } from "../../../../src/model/test-case/assertion.ts";
import { Snippet } from "../Snippet.tsx";
import { useTrace } from "./context.ts";
import { missingAttributes, snippetOf, whereLooked } from "./instrumentation.ts";
import { Facts } from "./Value.tsx";

export function Missing({ check, assertion }: { check: Check; assertion: Assertion }) {
  const { trace, params } = useTrace();
  const attributes = missingAttributes(check);
  // No code of the agent would add what is not stored.
  if (check.reasonCode === "content_not_stored") return null;
  // The service made this trace itself, so there is nothing to instrument.
  if (trace.notices.includes("no_trace_arrived")) {
    return (
      <p>
        This check needs a trace from the agent itself.{" "}
        <Link to="/projects/$projectId/agents/$agentId/start" params={params}>
          Send traces
        </Link>
      </p>
    );
  }
  return (
    <>
      <Facts facts={[["Searched", whereLooked(assertion)]]} />
      <Snippet lines={snippetOf(assertion, attributes)} path={trace.path} />
    </>
  );
}
