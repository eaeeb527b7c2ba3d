// Running test cases: what every Run button does, and what is said where they cannot be run.

import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { Failure } from "../api.ts";
import { startLaunch } from "../mutations/launches.ts";
import { launchesQuery } from "../queries/launches.ts";
import { Dialog } from "../ui/Dialog.tsx";
import { FailureNotice } from "../ui/Notice.tsx";
import { MendConnection } from "./MendConnection.tsx";

type Params = { projectId: string; agentId: string };

export type Launching = {
  /** Runs these, or every Active test case, and goes to where they can be watched. */
  launch: (testIds?: readonly string[]) => Promise<void>;
  busy: boolean;
  /** To be shown somewhere on the page: why nothing was run. */
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
        {failure.code === "CONFLICT" && <MendConnection params={{ projectId, agentId }} />}
      </div>
    </Dialog>
  );
  return { launch, busy, refusal };
}
