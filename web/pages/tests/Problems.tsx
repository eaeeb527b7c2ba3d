// Notice that lists the tests for which a bulk action failed, and why.
import { Link } from "@tanstack/react-router";
import type { BulkFailure } from "../../forms/test-changes.ts";
import { Button } from "../../ui/Button.tsx";
import { Notice } from "../../ui/Notice.tsx";

type ProblemsProps = {
  failure: BulkFailure | undefined;
  params: { projectId: string; agentId: string };
  onDismiss: () => void;
};

export function Problems({ failure, params, onDismiss }: ProblemsProps) {
  if (!failure) return null;
  return (
    <div className="tests-problems">
      <Notice tone="bad" role="alert">
        <p>
          <strong>{failure.what}</strong>
        </p>
        <ul>
          {failure.problems.map(({ testId, name, message }, index) => (
            <li key={index}>
              {testId !== null && name !== null && (
                <>
                  <Link
                    to="/projects/$projectId/agents/$agentId/tests/$testId"
                    params={{ ...params, testId }}
                  >
                    {name}
                  </Link>
                  {": "}
                </>
              )}
              {message}
            </li>
          ))}
        </ul>
        <Button small onClick={onDismiss}>
          Dismiss
        </Button>
      </Notice>
    </div>
  );
}
