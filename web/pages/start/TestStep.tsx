// The fourth step: the first test case, created from a template that needs no judge, or written from the latest trace.
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { ListedTest } from "../../../src/http/test-cases/schemas.ts";
import type { ListedTrace } from "../../../src/http/traces/schemas.ts";
import type { Agent } from "../../../src/model/agent/agent.ts";
import type { Failure } from "../../api.ts";
import { counted } from "../../labels.ts";
import { createTest } from "../../mutations/tests.ts";
import { testsQuery } from "../../queries/tests.ts";
import { templates } from "../../templates.ts";
import { Button } from "../../ui/Button.tsx";
import { FailureNotice } from "../../ui/Notice.tsx";

/** Needs no judge and applies to every trace. */
const firstTest = templates.find(({ id }) => id === "answers")!;

/** `tests` is undefined while loading, `trace` without one. */
type TestStepProps = { agent: Agent; tests: ListedTest[] | undefined; trace: ListedTrace | undefined };

export function TestStep({ agent, tests, trace }: TestStepProps) {
  const params = { projectId: agent.projectId, agentId: agent.id };
  if (!tests) return null;
  const active = tests.find(({ eligibility }) => eligibility === null);
  if (active) {
    const more = tests.length - 1;
    return (
      <p>
        <Link
          to="/projects/$projectId/agents/$agentId/tests/$testId"
          params={{ ...params, testId: active.id }}
          className="break"
        >
          {active.name}
        </Link>{" "}
        evaluates new traces.{" "}
        {more > 0 && (
          <Link to="/projects/$projectId/agents/$agentId/tests" params={params}>
            {counted(more, "more test")}
          </Link>
        )}
      </p>
    );
  }
  if (tests.length > 0) {
    return (
      <p>
        This agent has {counted(tests.length, "test case")}, but none applies to live traffic.{" "}
        <Link to="/projects/$projectId/agents/$agentId/tests" params={params}>
          Activate one
        </Link>
        .
      </p>
    );
  }
  return <CreateFirstTest agent={agent} trace={trace} />;
}

function CreateFirstTest({ agent, trace }: Omit<TestStepProps, "tests">) {
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  async function create(): Promise<void> {
    setBusy(true);
    setFailure(undefined);
    const answer = await createTest(agent.id, firstTest.document);
    if (answer.ok) await queries.invalidateQueries({ queryKey: testsQuery(agent.id).queryKey });
    else setFailure(answer.failure);
    setBusy(false);
  }
  return (
    <>
      <p>
        A test case says what a good reply looks like. Start with “{firstTest.name}”: the reply must not be
        empty.
      </p>
      <div className="line">
        <Button {...(trace && { look: "main" })} busy={busy} onClick={() => void create()}>
          Create test
        </Button>
        <Link
          to="/projects/$projectId/agents/$agentId/tests/$testId"
          params={{ projectId: agent.projectId, agentId: agent.id, testId: "new" }}
          search={trace ? { trace: trace.id } : {}}
        >
          {trace ? "Create test from this trace" : "Write your own"}
        </Link>
      </div>
      <FailureNotice failure={failure} />
    </>
  );
}
