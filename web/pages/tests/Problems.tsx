// Notice that lists the tests for which a bulk action failed, and why.
import { Link } from "@tanstack/react-router";
import type { Told } from "../../forms/test-changes.ts";
import { Button } from "../../ui/Button.tsx";
import { Notice } from "../../ui/Notice.tsx";

type ProblemsProps = {
  told: Told | undefined;
  params: { projectId: string; agentId: string };
  onDismiss: () => void;
};

export function Problems({ told, params, onDismiss }: ProblemsProps) {
  if (!told) return null;
  return (
    <div className="tests-problems">
      <Notice tone="bad" role="alert">
        <p>
          <strong>{told.what}</strong>
        </p>
        <ul>
          {told.problems.map(({ testId, name, message }, index) => (
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
