// The action of every Run button: starts a run of test cases, or shows why it cannot start.

import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { Failure } from "../api.ts";
import { startLaunch } from "../mutations/launches.ts";
import { launchesQuery } from "../queries/launches.ts";
import { Dialog } from "../ui/Dialog.tsx";
import { FailureNotice } from "../ui/Notice.tsx";
import { FixConnection } from "./FixConnection.tsx";

type Params = { projectId: string; agentId: string };

export type Launching = {
  /** Runs these tests, or all active ones, and opens the page of the run. */
  launch: (testIds?: readonly string[]) => Promise<void>;
  busy: boolean;
  /** Dialog with the reason why nothing was run; the page must render it. */
  refusal: ReactNode;
};

export function useLaunch({ projectId, agentId }: Params): Launching {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const launch = async (testIds?: readonly string[]) => {
    setBusy(true);
    const answer = await startLaunch(agentId, testIds);
    setBusy(false);
    if (!answer.ok) return setFailure(answer.failure);
    void queries.invalidateQueries({ queryKey: launchesQuery(agentId).queryKey });
    await navigate({
      to: "/projects/$projectId/agents/$agentId/runs/$launchId",
      params: { projectId, agentId, launchId: answer.value.id },
    });
  };
  const refusal = failure && (
    <Dialog title="Nothing was run" onClose={() => setFailure(undefined)}>
      <div className="stack">
        <FailureNotice failure={failure} />
        {failure.issues && failure.issues.length > 0 && (
          <ul>
            {failure.issues.map(({ path, message }) => (
              <li key={path}>{message}</li>
            ))}
          </ul>
        )}
        {failure.code === "CONFLICT" && <FixConnection params={{ projectId, agentId }} />}
      </div>
    </Dialog>
  );
  return { launch, busy, refusal };
}
