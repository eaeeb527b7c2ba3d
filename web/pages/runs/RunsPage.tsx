// Every time test cases of an agent were run on purpose, newest first, and how it came out.

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
import { EmptyState, Loaded, MorePages, Skeleton } from "../../ui/State.tsx";
import { RelativeTime } from "../../ui/Time.tsx";
import { countsOfLaunch, LaunchStateBadge, Progress } from "./Progress.tsx";
import "../../styles/runs.css";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/runs");

export function RunsPage() {
  const params = route.useParams();
  const { agentId } = params;
  const queries = useQueryClient();
  const launches = useInfiniteQuery(launchesQuery(agentId));
  const { launch, busy, refusal } = useLaunch(params);
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
      about="Test cases that were run on purpose: their inputs sent to the agent, its replies judged. Real conversations are not touched by them."
      actions={launches.data && launches.data.length > 0 && runAll}
    >
      {refusal}
      <Loaded query={launches}>
        {items =>
          items.length === 0 ? (
            <NothingRun params={params} runAll={runAll} />
          ) : (
            <LaunchTable launches={items} params={params} />
          )
        }
      </Loaded>
      <MorePages query={launches} />
    </Page>
  );
}

/** What is lacking comes first: test cases, then how the agent is called. */
function NothingRun({ params, runAll }: { params: LaunchTableProps["params"]; runAll: ReactNode }) {
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
        <p className="quiet">A run sends the turns of a test case to the agent and judges its replies.</p>
        {toTests("Make a test case", "main")}
      </EmptyState>
    );
  }
  if (connection.data?.connection === null) {
    return (
      <EmptyState icon="play" title="Nothing was run yet">
        <p className="quiet">Say first how the agent is called: its address, and where its reply is.</p>
        <div className="line">
          <Link
            to="/projects/$projectId/agents/$agentId/settings"
            params={params}
            hash="connection"
            className="button"
            data-look="main"
          >
            Set up the connection
          </Link>
          {toTests("See the test cases")}
        </div>
      </EmptyState>
    );
  }
  const areActive = tests.data.some(({ status }) => status === "active");
  return (
    <EmptyState icon="play" title="Nothing was run yet">
      <p className="quiet">
        {areActive ? "Run every Active test case now, choose" : "No test case is Active. Choose"} some among
        the test cases, or let your CI do it: <code>npm run svc -- run --agent {agentId} --wait</code>
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
  const table = useRowKeys("launch");
  return (
    <div className="table-wrap">
      <table className="table runs-table runs-launches" ref={table}>
        <thead>
          <tr>
            <th scope="col">Run</th>
            <th scope="col" className="runs-outcome-column">
              State
            </th>
            <th scope="col">Came to</th>
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
                  {counted(launch.testCount, "test case")}
                </Link>
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
              <td>{countsOfLaunch(launch.counts)}</td>
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
