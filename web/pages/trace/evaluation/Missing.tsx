// Missing instrumentation: which attribute, where it was looked for, and the lines of code that add it.
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
  // Nothing is to be added to what the service itself has made.
  if (trace.notices.includes("no_trace_arrived")) {
    return (
      <p>
        Only a trace that the agent itself sends can tell.{" "}
        <Link to="/projects/$projectId/agents/$agentId/start" params={params}>
          How to send traces
        </Link>
      </p>
    );
  }
  return (
    <>
      <Facts
        facts={[
          ["Missing", attributes.length > 0 && <Attributes attributes={attributes} />],
          ["Looked for", whereLooked(assertion)],
        ]}
      />
      <Snippet lines={snippetOf(assertion, attributes)} path={trace.path} />
    </>
  );
}

function Attributes({ attributes }: { attributes: string[] }) {
  return (
    <span className="names">
      {attributes.map(attribute => (
        <code key={attribute}>{attribute}</code>
      ))}
    </span>
  );
}
