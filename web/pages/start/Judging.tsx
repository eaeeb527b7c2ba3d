// Why the latest trace has no verdict yet, and the shortest way to one.
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Agent } from "../../../src/model/agent/agent.ts";
import { counted } from "../../labels.ts";
import { testsQuery } from "../../queries/tests.ts";

/** Needs no judge, and says something of every trace. */
const first = { template: "answers", name: "Answers at all" };

export function Judging({ agent: { id, projectId } }: { agent: Agent }) {
  const { data: tests } = useInfiniteQuery({ ...testsQuery(id), refetchOnMount: "always" });
  const params = { projectId, agentId: id };
  if (!tests) return null;
  if (tests.some(({ eligibility }) => eligibility === null)) {
    return <p>A test case is active. It judges new traces only: send one more.</p>;
  }
  if (tests.length > 0) {
    return (
      <p>
        This agent has {counted(tests.length, "test case")}, and none judges real conversations.{" "}
        <Link to="/projects/$projectId/agents/$agentId/tests" params={params}>
          See why, and enable one
        </Link>
        . Then send one more trace.
      </p>
    );
  }
  return (
    <p>
      No test case judges this agent yet. Save{" "}
      <Link
        to="/projects/$projectId/agents/$agentId/tests/$testId"
        params={{ ...params, testId: "new" }}
        search={{ template: first.template }}
      >
        “{first.name}”
      </Link>
      , which judges every trace, or write one of your own. Then send one more trace.
    </p>
  );
}
