// Insights: what an agent's runs came to over time, by agent, test case or check.

import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMemo } from "react";
import type { AgentTally, Insights, Tally } from "../../../src/http/projects/insights-schemas.ts";
import { lastTraceQuery } from "../../queries/agents.ts";
import { insightsQuery } from "../../queries/insights.ts";
import { sumOf } from "../../queries/test-insights.ts";
import { testQuery, testsQuery } from "../../queries/tests.ts";
import { Page } from "../../ui/Page.tsx";
import { EmptyState, Loaded, Skeleton } from "../../ui/State.tsx";
import { Charts } from "./Charts.tsx";
import { Controls, CustomRange } from "./Controls.tsx";
import { spanText } from "./figures.ts";
import { PointTable } from "./PointTable.tsx";
import { Ranking } from "./Ranking.tsx";
import { Patterns } from "./Swatch.tsx";
import { Totals } from "./Totals.tsx";
import { askOf, countedAddress, rangeFault, type Search, type View, viewOf } from "./view.ts";
import "../../styles/insights.css";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/insights");

type Params = { projectId: string; agentId: string };

export function InsightsPage() {
  const params = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const view = viewOf(search);
  const shows = view.range !== "custom" || !rangeFault(view.from, view.to);
  const insights = useQuery({ ...insightsQuery(params.agentId, askOf(view)), enabled: shows });
  return (
    <Page
      title="Insights"
      actions={
        <Link to="/projects/$projectId/agents/$agentId/judging" params={params} className="button">
          What judging takes
        </Link>
      }
    >
      <div className="insights stack" aria-busy={insights.isPlaceholderData}>
        <Controls view={view} search={search} params={params} insights={insights.data} />
        {view.range === "custom" && (
          <CustomRange
            key={`${view.from} ${view.to}`}
            view={view}
            insights={insights.data}
            onChoose={(from, to) => void navigate({ search: { ...search, from, to, interval: undefined } })}
          />
        )}
        {shows && (
          <Loaded query={insights}>
            {data => <Shown insights={data} view={view} search={search} params={params} />}
          </Loaded>
        )}
      </div>
    </Page>
  );
}

type ShownProps = { insights: Insights; view: View; search: Search; params: Params };

function Shown({ insights, view, search, params }: ShownProps) {
  const { projectId, agentId } = params;
  const { from, to, interval, series } = insights;
  const addressOf = useMemo(
    () => countedAddress({ projectId, agentId }, { from, to, interval }),
    [projectId, agentId, from, to, interval],
  );
  const { by, testId } = view;
  const one = by === "agent" || (by === "test" && testId !== undefined);
  const points = series[0]?.points ?? [];
  const isEmpty = series.every(({ points }) => points.length === 0);
  const noun = by === "agent" ? "Runs" : "Results";
  const common = { noun, addressOf, testId };
  return (
    <>
      {testId !== undefined && <OneTest testId={testId} params={params} search={search} />}
      <p className="quiet small">
        {spanText(Date.parse(from), Date.parse(to), interval)}, UTC, by the {interval}. Counted are{" "}
        {by === "agent"
          ? "runs, by their verdicts"
          : by === "test"
            ? "the results of tests"
            : "the outcomes of checks"}
        ; a trace that is judged again counts again.
      </p>
      {isEmpty ? (
        <NothingJudged params={params} search={search} view={view} />
      ) : one ? (
        <>
          <Totals total={totalOf(insights)} {...common} />
          <Patterns />
          {view.form === "chart" ? (
            <Charts insights={insights} points={points} {...common} />
          ) : (
            <PointTable insights={insights} points={points} {...common} />
          )}
        </>
      ) : (
        <>
          <Patterns />
          <Ranking
            insights={insights}
            of={by === "check" ? "check" : "test"}
            addressOf={addressOf}
            params={params}
            search={search}
          />
        </>
      )}
    </>
  );
}

function totalOf({ total, series }: Insights): Tally & Partial<AgentTally> {
  if (total) return total;
  const counts = sumOf(series.flatMap(({ points }) => points));
  const judged = counts.passed + counts.failed;
  return { counts, passRate: judged === 0 ? null : counts.passed / judged };
}

/** Which test alone is told of, and the ways on from it. */
function OneTest({ testId, params, search }: { testId: string; params: Params; search: Search }) {
  const { data: test } = useQuery(testQuery(testId));
  const to = "/projects/$projectId/agents/$agentId/insights";
  return (
    <p className="line">
      <strong className="break">{test?.name ?? "One test case"}</strong>
      <Link to="/projects/$projectId/agents/$agentId/tests/$testId" params={{ ...params, testId }}>
        Edit it
      </Link>
      <Link to="/projects/$projectId/agents/$agentId/tests/$testId/results" params={{ ...params, testId }}>
        Its results
      </Link>
      <Link to={to} params={params} search={{ ...search, by: search.by === "check" ? "test" : "check" }}>
        {search.by === "check" ? "Over time" : "Its checks"}
      </Link>
      <Link to={to} params={params} search={{ ...search, testId: undefined }}>
        All {search.by === "check" ? "checks" : "test cases"}
      </Link>
    </p>
  );
}

/** Why there is nothing to show, and what to do about it. */
function NothingJudged({ params, search, view }: { params: Params; search: Search; view: View }) {
  const last = useQuery(lastTraceQuery(params.agentId));
  const tests = useInfiniteQuery(testsQuery(params.agentId));
  if (last.data === undefined || tests.data === undefined) return <Skeleton />;
  if (last.data === null) {
    return (
      <EmptyState icon="agent" title="No trace yet">
        <p className="quiet">
          Once this agent sends traces and a test case judges them, their outcomes are here.
        </p>
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
  if (!tests.data.some(({ eligibility }) => eligibility === null)) {
    return (
      <EmptyState icon="none" title="No test case judges this agent’s conversations">
        <p className="quiet">
          {tests.data.length === 0
            ? "Traces arrive; what they should be like is not written down yet."
            : "Those there are, are disabled or run manually only."}
        </p>
        <Link
          className="button"
          data-look="main"
          to="/projects/$projectId/agents/$agentId/tests/$testId"
          params={{ ...params, testId: "new" }}
        >
          Write a test case
        </Link>
        {tests.data.length > 0 && (
          <Link to="/projects/$projectId/agents/$agentId/tests" params={params}>
            See the test cases
          </Link>
        )}
      </EmptyState>
    );
  }
  const wider = view.range === "24h" ? "7d" : "30d";
  return (
    <EmptyState icon="clock" title="Nothing was judged in this time">
      <p className="quiet">Intervals without a run are left empty: no run is not a pass.</p>
      {view.range !== "30d" && (
        <Link
          className="button"
          to="/projects/$projectId/agents/$agentId/insights"
          params={params}
          search={{ ...search, range: wider, from: undefined, to: undefined, interval: undefined }}
        >
          Last {wider === "7d" ? "7 days" : "30 days"}
        </Link>
      )}
      <Link to="/projects/$projectId/agents/$agentId/traces" params={params}>
        See the traces
      </Link>
    </EmptyState>
  );
}
