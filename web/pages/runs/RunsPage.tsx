// The manual runs of an agent, newest first, with their results; or how to start the first one.
import { useInfiniteQuery, useQuery, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Launch } from "../../../src/http/test-cases/launch-schemas.ts";
import { useLaunch } from "../../forms/use-launch.tsx";
import { counted, launchSources } from "../../labels.ts";
import { useLive } from "../../live.ts";
import { agentQuery } from "../../queries/agents.ts";
import { connectionQuery } from "../../queries/connection.ts";
import { launchesQuery } from "../../queries/launches.ts";
import { testsQuery } from "../../queries/tests.ts";
import { useRefresh } from "../../refreshing.ts";
import { useRowKeys } from "../../shell/row-keys.ts";
import { Button } from "../../ui/Button.tsx";
import { Page } from "../../ui/Page.tsx";
import { PassRate } from "../../ui/PassRate.tsx";
import { EmptyState, Loaded, MorePages, Skeleton } from "../../ui/State.tsx";
import { RelativeTime } from "../../ui/Time.tsx";
import { countsOfLaunch, hasOneRunPerTest, LaunchStateBadge, Progress } from "./Progress.tsx";
import "../../styles/runs.css";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/runs");

export function RunsPage() {
  const params = route.useParams();
  const { agentId } = params;
  const queries = useQueryClient();
  const launches = useInfiniteQuery(launchesQuery(agentId));
  const { launch, busy, dialog } = useLaunch(params);
  const refresh = useRefresh(() => queries.invalidateQueries({ queryKey: launchesQuery(agentId).queryKey }));
  useLive({ agentId }, event => {
    if (event.type === "launch" || event.type === "refresh") refresh();
  });
  const runAll = (
    <Button look="main" icon="play" busy={busy} onClick={() => void launch()}>
      Run all active
    </Button>
  );
  return (
    <Page
      title="Runs"
      about="Manual runs: test inputs are sent to the agent and its replies are evaluated. Live traffic is not affected."
      actions={launches.data && launches.data.length > 0 && runAll}
    >
      {dialog}
      <Loaded query={launches}>
        {items =>
          items.length === 0 ? (
            <NoRuns params={params} runAll={runAll} />
          ) : (
            <LaunchTable launches={items} params={params} />
          )
        }
      </Loaded>
      <MorePages query={launches} />
    </Page>
  );
}

/** Asks for what is missing first: test cases, then the connection. */
function NoRuns({ params, runAll }: { params: LaunchTableProps["params"]; runAll: ReactNode }) {
  const { agentId } = params;
  const { data: agent } = useSuspenseQuery(agentQuery(agentId));
  const tests = useInfiniteQuery(testsQuery(agentId));
  const connection = useQuery(connectionQuery(agentId, agent.type));
  if (tests.data === undefined || (connection.data === undefined && !connection.error)) return <Skeleton />;
  const toTests = (text: string, look?: "main") => (
    <Link to="/projects/$projectId/agents/$agentId/tests" params={params} className="button" data-look={look}>
      {text}
    </Link>
  );
  if (tests.data.length === 0) {
    return (
      <EmptyState icon="play" title="Nothing to run yet">
        <p className="quiet">
          A run sends the messages of a test case to the agent and evaluates its replies.
        </p>
        {toTests("Create test case", "main")}
      </EmptyState>
    );
  }
  if (connection.data?.connection === null) {
    return (
      <EmptyState icon="play" title="No runs yet">
        <p className="quiet">First set up the connection: the agent’s URL and where to find its reply.</p>
        <div className="line">
          <Link
            to="/projects/$projectId/agents/$agentId/settings"
            params={params}
            hash="connection"
            className="button"
            data-look="main"
          >
            Set up connection
          </Link>
          {toTests("View test cases")}
        </div>
      </EmptyState>
    );
  }
  const areActive = tests.data.some(({ status }) => status === "active");
  return (
    <EmptyState icon="play" title="No runs yet">
      <p className="quiet">
        {areActive ? "Run all active tests now, choose some" : "No test is active. Choose some to run"}, or
        run them in CI: <code>npm run svc -- run --agent {agentId} --wait</code>
      </p>
      <div className="line">
        {areActive && runAll}
        {toTests("Choose test cases")}
      </div>
    </EmptyState>
  );
}

type LaunchTableProps = { launches: readonly Launch[]; params: { projectId: string; agentId: string } };

function LaunchTable({ launches, params }: LaunchTableProps) {
  const table = useRowKeys("run");
  return (
    <div className="table-wrap">
      <table className="table runs-table runs-launches" ref={table}>
        <thead>
          <tr>
            <th scope="col">Run</th>
            <th scope="col" className="runs-outcome-column">
              State
            </th>
            <th scope="col">Results</th>
            <th scope="col" className="runs-name-column">
              Progress
            </th>
          </tr>
        </thead>
        <tbody>
          {launches.map(launch => (
            <tr key={launch.id}>
              <th scope="row">
                <Link
                  to="/projects/$projectId/agents/$agentId/runs/$launchId"
                  params={{ ...params, launchId: launch.id }}
                >
                  {counted(launch.testCount, "test")}
                </Link>
                {!hasOneRunPerTest(launch) && (
                  <span className="quiet"> · {counted(launch.runCount, "test run")}</span>
                )}
                <span className="runs-under">
                  <RelativeTime at={launch.createdAt} />
                  {launch.createdBy && (
                    <>
                      {" by "}
                      <bdi>{launch.createdBy.name}</bdi>
                    </>
                  )}{" "}
                  {launchSources[launch.source]}
                </span>
              </th>
              <td>
                <LaunchStateBadge launch={launch} />
              </td>
              <td>
                <span className="runs-cell">
                  <span>{countsOfLaunch(launch)}</span>
                  {!hasOneRunPerTest(launch) && <PassRate rate={launch.passRate} />}
                </span>
              </td>
              <td>
                <Progress launch={launch} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
