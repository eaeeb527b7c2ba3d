// Every time test cases of an agent were run on purpose, newest first, and how it came out.
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useLaunch } from "../forms/use-launch.tsx";
import { counted, launchSources } from "../labels.ts";
import { useLive } from "../live.ts";
import { type Launch, launchesQuery } from "../queries/launches.ts";
import { useRefresh } from "../refreshing.ts";
import { Button } from "../ui/Button.tsx";
import { Page } from "../ui/Page.tsx";
import { EmptyState, Loaded, MorePages } from "../ui/State.tsx";
import { RelativeTime } from "../ui/Time.tsx";
import { countsOfLaunch, LaunchStateBadge, Progress } from "./runs/Progress.tsx";
import "../styles/runs.css";

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
            <EmptyState icon="play" title="Nothing was run yet">
              <p className="quiet">
                Run every Active test case now, choose some among the test cases, or let your CI do it:{" "}
                <code>npm run svc -- run --agent {agentId} --wait</code>
              </p>
              <div className="line">
                {runAll}
                <Link to="/projects/$projectId/agents/$agentId/tests" params={params} className="button">
                  Choose test cases
                </Link>
              </div>
            </EmptyState>
          ) : (
            <LaunchTable launches={items} params={params} />
          )
        }
      </Loaded>
      <MorePages query={launches} />
    </Page>
  );
}

type LaunchTableProps = { launches: readonly Launch[]; params: { projectId: string; agentId: string } };

function LaunchTable({ launches, params }: LaunchTableProps) {
  return (
    <div className="table-wrap">
      <table className="table runs-table">
        <thead>
          <tr>
            <th scope="col">Started</th>
            <th scope="col" className="runs-outcome-column">
              State
            </th>
            <th scope="col">Came to</th>
            <th scope="col" className="runs-state-column">
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
              <td data-label="State">
                <LaunchStateBadge launch={launch} />
              </td>
              <td data-label="Came to">{countsOfLaunch(launch.counts)}</td>
              <td data-label="Progress">
                <Progress launch={launch} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
