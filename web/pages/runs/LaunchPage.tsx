// Page of one run (a launch): progress, the test runs compared with the previous ones, cancel, rerun and delete.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { LaunchDetail, LaunchTest } from "../../../src/http/test-cases/launch-schemas.ts";
import { type Failure, failureOf } from "../../api.ts";
import { ConfirmDialog } from "../../forms/ConfirmDialog.tsx";
import { Reevaluate } from "../../forms/Reevaluate.tsx";
import { useLaunch } from "../../forms/use-launch.tsx";
import { counted, launchSources } from "../../labels.ts";
import { useLive } from "../../live.ts";
import { cancelLaunch, deleteLaunch } from "../../mutations/launches.ts";
import { launchesQuery, launchQuery, launchRunsQuery } from "../../queries/launches.ts";
import { useRefresh } from "../../refreshing.ts";
import { NotFound } from "../../shell/NotFound.tsx";
import { usePageCommand } from "../../shell/page-commands.ts";
import { Button } from "../../ui/Button.tsx";
import { FailureNotice, Notice } from "../../ui/Notice.tsx";
import { Page } from "../../ui/Page.tsx";
import { PassRateLine } from "../../ui/PassRate.tsx";
import { Loaded } from "../../ui/State.tsx";
import { RelativeTime } from "../../ui/Time.tsx";
import { toast } from "../../ui/Toast.tsx";
import { PlainRuns } from "./PlainRuns.tsx";
import { countsOfLaunch, hasOneRunPerTest, LaunchStateBadge, Progress, ProgressNews } from "./Progress.tsx";
import { TestsOfLaunch } from "./TestsOfLaunch.tsx";
import "../../styles/runs.css";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/runs/$launchId");

export function LaunchPage() {
  const params = route.useParams();
  const { agentId, launchId } = params;
  const queries = useQueryClient();
  const launch = useQuery(launchQuery(launchId));
  const refresh = useRefresh(() => queries.invalidateQueries({ queryKey: launchQuery(launchId).queryKey }));
  useLive({ agentId }, event => {
    if (event.type === "refresh" || (event.type === "launch" && event.launchId === launchId)) refresh();
  });
  if (launch.error && failureOf(launch.error).code === "NOT_FOUND") return <NotFound />;
  return (
    <Page
      title={launch.data ? `Run of ${counted(launch.data.testCount, "test")}` : "Run"}
      about={launch.data && <About launch={launch.data} />}
      actions={launch.data && !isOpen(launch.data) && <Actions launch={launch.data} params={params} />}
    >
      <Loaded query={launch}>
        {found => (
          <div className="stack">
            <section className="card stack-tight" aria-label="Progress" tabIndex={-1}>
              <div className="line runs-standing">
                <LaunchStateBadge launch={found} />
                <span>{countsOfLaunch(found)}</span>
                {isOpen(found) && <Cancel launch={found} />}
              </div>
              <Progress launch={found} />
              {!hasOneRunPerTest(found) && <PassRateLine rate={found.passRate} />}
              <ProgressNews launch={found} />
              <DeletedRuns launch={found} />
            </section>
            {!isOpen(found) && <JudgeUnavailable launch={found} params={params} />}
            {!isOpen(found) && <TracesChanged launch={found} params={params} />}
            <Runs launch={found} params={params} />
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function mayPassOnRerun({ counts: { failed, error, missing_instrumentation } }: LaunchTest): boolean {
  return failed + error + missing_instrumentation > 0;
}

function About({ launch }: { launch: LaunchDetail }) {
  return (
    <>
      {!hasOneRunPerTest(launch) && `${counted(launch.runCount, "test run")}. `}
      Started <RelativeTime at={launch.createdAt} />
      {launch.createdBy && (
        <>
          {" by "}
          <bdi>{launch.createdBy.name}</bdi>
        </>
      )}{" "}
      {launchSources[launch.source]}.{" "}
      {launch.finishedAt !== null && (
        <>
          Finished <RelativeTime at={launch.finishedAt} />.
        </>
      )}
    </>
  );
}

function JudgeUnavailable({ launch, params }: { launch: LaunchDetail; params: Params }) {
  if (launch.outages === 0) return null;
  return (
    <Notice tone="warn">
      <div className="line line-apart">
        <p>
          <b>The judge was unavailable for {counted(launch.outages, "test run")}.</b> Skipped checks can be
          judged without calling the agent again.
        </p>
        <Reevaluate {...params} what={{ launchId: launch.id }} />
      </div>
    </Notice>
  );
}

/** After an outage, the notice of that offers to re-evaluate both. */
function TracesChanged({ launch, params }: { launch: LaunchDetail; params: Params }) {
  const { id, tracesChanged, outages } = launch;
  if (tracesChanged === 0) return null;
  return (
    <Notice tone="warn">
      <div className="line line-apart">
        <p>
          <b>
            {tracesChanged === 1 ? "The trace of 1 test run" : `The traces of ${tracesChanged} test runs`}{" "}
            changed after the evaluation.
          </b>{" "}
          Re-evaluate to include the changes; the agent is not called again.
        </p>
        {outages === 0 && <Reevaluate {...params} what={{ launchId: id }} />}
      </div>
    </Notice>
  );
}

/** A test run is deleted together with its trace. */
function DeletedRuns({ launch: { counts, runCount } }: { launch: LaunchDetail }) {
  const deleted = runCount - Object.values(counts).reduce((sum, count) => sum + count, 0);
  if (deleted <= 0) return null;
  return (
    <p className="quiet small">
      {deleted === 1
        ? "1 test run was deleted with its trace."
        : `${deleted} test runs were deleted with their traces.`}
    </p>
  );
}

type Params = { projectId: string; agentId: string; launchId: string };

function isOpen({ state }: LaunchDetail): boolean {
  return state === "queued" || state === "running";
}

/** Disappears when the launch has ended. */
function Cancel({ launch }: { launch: LaunchDetail }) {
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const cancel = async () => {
    setBusy(true);
    const answer = await cancelLaunch(launch.id);
    setBusy(false);
    setFailure(answer.ok ? undefined : answer.failure);
    if (answer.ok) queries.setQueryData(launchQuery(launch.id).queryKey, answer.value);
    void queries.invalidateQueries({ queryKey: launchesQuery(launch.agentId).queryKey });
  };
  return (
    <>
      <Button small icon="cross" busy={busy} onClick={() => void cancel()}>
        Cancel
      </Button>
      <FailureNotice failure={failure} />
    </>
  );
}

/** As simple as a list of tests where each has one run. */
function Runs({ launch, params }: { launch: LaunchDetail; params: Params }) {
  const isPlain = hasOneRunPerTest(launch);
  const runs = useQuery({ ...launchRunsQuery(launch.id), enabled: isPlain });
  if (!isPlain) return <TestsOfLaunch launch={launch} params={params} />;
  return <Loaded query={runs}>{found => <PlainRuns runs={found} params={params} />}</Loaded>;
}

function Actions({ launch, params }: { launch: LaunchDetail; params: Params }) {
  const rerun = useLaunch(params);
  const [deleting, setDeleting] = useState(false);
  const runnable = launch.tests.filter(({ testDeleted }) => !testDeleted);
  const testIds = runnable.map(({ testId }) => testId);
  const failedIds = runnable.filter(mayPassOnRerun).map(({ testId }) => testId);
  const hasFailed = failedIds.length > 0 && !rerun.busy;
  usePageCommand("Rerun failed", "play", hasFailed ? () => void rerun.launch(failedIds) : undefined);
  return (
    <>
      {rerun.dialog}
      <Link
        to="/projects/$projectId/agents/$agentId/runs/$launchId/compare"
        params={params}
        search={{ with: launch.previousId ?? undefined }}
        className="button"
      >
        Compare
      </Link>
      {failedIds.length > 0 && failedIds.length < testIds.length && (
        <Button busy={rerun.busy} onClick={() => void rerun.launch(failedIds)}>
          Rerun failed
        </Button>
      )}
      {testIds.length > 0 && (
        <Button icon="play" busy={rerun.busy} onClick={() => void rerun.launch(testIds)}>
          Rerun all
        </Button>
      )}
      <Button icon="trash" onClick={() => setDeleting(true)}>
        Delete
      </Button>
      {deleting && <DeleteRun launch={launch} params={params} onClose={() => setDeleting(false)} />}
    </>
  );
}

function DeleteRun({
  launch,
  params: { launchId, ...params },
  onClose,
}: {
  launch: LaunchDetail;
  params: Params;
  onClose: () => void;
}) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  return (
    <ConfirmDialog
      title="Delete run"
      about="Also deletes its test runs and their traces. Other runs are then compared without it. This cannot be undone."
      name="delete"
      send={() => deleteLaunch(launchId)}
      action="Delete run"
      onClose={onClose}
      onDone={async () => {
        await navigate({ to: "/projects/$projectId/agents/$agentId/runs", params, replace: true });
        toast("Run deleted");
        queries.removeQueries({ queryKey: launchQuery(launchId).queryKey });
        await queries.invalidateQueries({ queryKey: ["agents", launch.agentId] });
      }}
    />
  );
}
