// The action of every Run button: starts a run of test cases, asks before a large one, or shows why it cannot start.

import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { LaunchEstimate } from "../../src/http/test-cases/launch-schemas.ts";
import type { Failure } from "../api.ts";
import { counted } from "../labels.ts";
import { estimateLaunch, startLaunch } from "../mutations/launches.ts";
import { agentQuery } from "../queries/agents.ts";
import { launchesQuery } from "../queries/launches.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { FailureNotice } from "../ui/Notice.tsx";
import { toast } from "../ui/Toast.tsx";
import { usePageCheck } from "../ui/use-page-check.ts";
import { FixConnection } from "./FixConnection.tsx";

type Params = { projectId: string; agentId: string };

export type Launching = {
  /**
   * Runs these tests, or all active ones, and opens the page of the run. Asks first if they make many runs. A user who has
   * left the page in the meantime stays where they are.
   */
  launch: (testIds?: readonly string[]) => Promise<void>;
  busy: boolean;
  /** Why nothing was run, or what will be sent; the page must render it. */
  dialog: ReactNode;
};

/** Fewer requests are sent without asking, and so are tests with one run each: their number is known. */
const askedRequests = 10;

type State =
  | { step: "asking"; estimate: LaunchEstimate; testIds: readonly string[] | undefined }
  | { step: "failed"; failure: Failure };

export function useLaunch({ projectId, agentId }: Params): Launching {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [state, setState] = useState<State>();
  const checkPage = usePageCheck();
  const start = async (testIds: readonly string[] | undefined, isStillHere = checkPage()) => {
    setBusy(true);
    const answer = await startLaunch(agentId, testIds);
    setBusy(false);
    if (!answer.ok) return fail(answer.failure, isStillHere());
    setState(undefined);
    void queries.invalidateQueries({ queryKey: launchesQuery(agentId).queryKey });
    if (!isStillHere()) return toast("Run started");
    await navigate({
      to: "/projects/$projectId/agents/$agentId/runs/$launchId",
      params: { projectId, agentId, launchId: answer.value.id },
    });
  };
  const launch = async (testIds?: readonly string[]) => {
    const isStillHere = checkPage();
    setBusy(true);
    const estimated = await estimateLaunch(agentId, testIds);
    setBusy(false);
    if (!estimated.ok) return fail(estimated.failure, isStillHere());
    const { tests, runs, requests } = estimated.value;
    if (runs === tests || requests < askedRequests) return start(testIds, isStillHere);
    if (!isStillHere()) return toast(`Nothing was run: ${counted(runs, "test run")} must be confirmed`);
    setState({ step: "asking", estimate: estimated.value, testIds });
  };
  const fail = (failure: Failure, isStillHere: boolean) =>
    isStillHere ? setState({ step: "failed", failure }) : toast(`Nothing was run: ${failure.message}`);
  const close = () => setState(undefined);
  const dialog =
    state?.step === "failed" ? (
      <NothingRun failure={state.failure} params={{ projectId, agentId }} onClose={close} />
    ) : state?.step === "asking" ? (
      <AskFirst
        agentId={agentId}
        estimate={state.estimate}
        busy={busy}
        onRun={() => void start(state.testIds)}
        onClose={close}
      />
    ) : null;
  return { launch, busy, dialog };
}

type AskFirstProps = {
  agentId: string;
  estimate: LaunchEstimate;
  busy: boolean;
  onRun: () => void;
  onClose: () => void;
};

function AskFirst({ agentId, estimate, busy, onRun, onClose }: AskFirstProps) {
  const { data: agent } = useSuspenseQuery(agentQuery(agentId));
  const { tests, runs, requests, semanticChecks } = estimate;
  return (
    <Dialog
      title={`Start ${counted(runs, "test run")}?`}
      about={
        <>
          Sends {counted(requests, "request")} to <bdi>{agent.name}</bdi>
          {semanticChecks > 0 &&
            ` and asks the judge about up to ${counted(semanticChecks, "semantic check")}`}
          .{tests > 1 && ` ${counted(tests, "test")} with their inputs and repeats.`}
        </>
      }
      onClose={onClose}
    >
      <div className="line line-end">
        <Button onClick={onClose}>Cancel</Button>
        <Button look="main" icon="play" busy={busy} onClick={onRun}>
          Start
        </Button>
      </div>
    </Dialog>
  );
}

type NothingRunProps = { failure: Failure; params: Params; onClose: () => void };

function NothingRun({ failure: { issues = [], ...failure }, params, onClose }: NothingRunProps) {
  return (
    <Dialog title="Nothing was run" onClose={onClose}>
      <div className="stack">
        <FailureNotice failure={failure} />
        {issues.length > 0 && (
          <ul>
            {issues.map(({ path, message }) => (
              <li key={path}>{message}</li>
            ))}
          </ul>
        )}
        {failure.code === "CONFLICT" && <FixConnection params={params} />}
      </div>
    </Dialog>
  );
}
