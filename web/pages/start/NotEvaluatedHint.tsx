// Why the latest trace was not evaluated, and what to do so that the next one is.
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Agent } from "../../../src/model/agent/agent.ts";
import { counted } from "../../labels.ts";
import { testsQuery } from "../../queries/tests.ts";
import { templates } from "../../templates.ts";

/** Needs no judge and applies to every trace. */
const firstTest = templates.find(({ id }) => id === "answers")!;

export function NotEvaluatedHint({ agent: { id, projectId } }: { agent: Agent }) {
  const { data: tests } = useInfiniteQuery({ ...testsQuery(id), refetchOnMount: "always" });
  const params = { projectId, agentId: id };
  if (!tests) return null;
  if (tests.some(({ eligibility }) => eligibility === null)) {
    return <p>Active test cases apply to new traces only. Send another trace.</p>;
  }
  if (tests.length > 0) {
    return (
      <p>
        This agent has {counted(tests.length, "test case")}, but none applies to live traffic.{" "}
        <Link to="/projects/$projectId/agents/$agentId/tests" params={params}>
          Activate one
        </Link>
        , then send another trace.
      </p>
    );
  }
  return (
    <p>
      No test case checks this agent yet. Save{" "}
      <Link
        to="/projects/$projectId/agents/$agentId/tests/$testId"
        params={{ ...params, testId: "new" }}
        search={{ template: firstTest.id }}
      >
        “{firstTest.name}”
      </Link>{" "}
      or a test case of your own, then send another trace.
    </p>
  );
}
