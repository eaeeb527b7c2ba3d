// The overview of an agent: its last 24 hours against a week before, what fails, and what no test looked at.
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { Overview } from "../../../src/http/projects/overview-schemas.ts";
import { useLive } from "../../live.ts";
import { overviewQuery } from "../../queries/overview.ts";
import { useRefresh } from "../../refreshing.ts";
import { Notice } from "../../ui/Notice.tsx";
import { Page } from "../../ui/Page.tsx";
import { EmptyState, Loaded } from "../../ui/State.tsx";
import { MomentTime } from "../../ui/Time.tsx";
import { FailingTests } from "./FailingTests.tsx";
import { Figures } from "./Figures.tsx";
import { tracesOf } from "./lists.ts";
import { MissingTests } from "./MissingTests.tsx";
import { NotChecked } from "./NotChecked.tsx";
import { CountLink, type Params } from "./parts.tsx";
import { Failures, Slowest } from "./TraceLists.tsx";
import { unroutedText } from "./words.ts";
import "../../styles/overview.css";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/overview");

/** Events within this time lead to one read. */
const calmMs = 2_000;

export function OverviewPage() {
  const params = route.useParams();
  const overview = useQuery(overviewQuery(params.agentId));
  const refresh = useRefresh(() => overview.refetch(), calmMs);
  useLive({ agentId: params.agentId }, ({ type }) => {
    if (type === "trace" || type === "run" || type === "refresh") refresh();
  });
  const from = overview.data?.lastTraceAt && overview.data.traffic.now.from;
  return (
    <Page
      title="Overview"
      about={
        from && (
          <>
            Live traffic of the last 24 hours, since <MomentTime at={from} />.
          </>
        )
      }
    >
      <Loaded query={overview}>
        {data =>
          data.lastTraceAt === null ? <NoTraces params={params} /> : <Content {...{ data, params }} />
        }
      </Loaded>
    </Page>
  );
}

function Content({ data, params }: { data: Overview; params: Params }) {
  const { routingUnavailable } = data.results.now;
  return (
    <div className="overview stack">
      {routingUnavailable > 0 && (
        <Notice tone="warn">
          <p>
            {unroutedText(routingUnavailable)}{" "}
            <CountLink params={params} search={tracesOf(data).unrouted}>
              Show {routingUnavailable === 1 ? "trace" : "traces"}
            </CountLink>
          </p>
        </Notice>
      )}
      <Figures overview={data} params={params} />
      <div className="overview-sections">
        <FailingTests overview={data} params={params} />
        <Failures overview={data} params={params} />
        <NotChecked overview={data} params={params} />
        <MissingTests overview={data} params={params} />
        <Slowest overview={data} params={params} />
      </div>
    </div>
  );
}

function NoTraces({ params }: { params: Params }) {
  return (
    <EmptyState icon="agent" title="No traces yet">
      <p className="quiet">Connect the agent, and its results appear here.</p>
      <Link
        className="button"
        data-look="main"
        to="/projects/$projectId/agents/$agentId/start"
        params={params}
      >
        Get started
      </Link>
    </EmptyState>
  );
}
