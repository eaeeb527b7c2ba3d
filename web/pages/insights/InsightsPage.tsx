// Insights: results of an agent's evaluations over time, by agent, test case or check.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMemo } from "react";
import type { AgentTally, Insights, Tally } from "../../../src/http/projects/insights-schemas.ts";
import { lastTraceQuery } from "../../queries/agents.ts";
import { insightsQuery } from "../../queries/insights.ts";
import { sumOf, sumOfOthers } from "../../queries/test-insights.ts";
import { testQuery, testsQuery } from "../../queries/tests.ts";
import { InvalidFilters } from "../../ui/InvalidFilters.tsx";
import { Page } from "../../ui/Page.tsx";
import { EmptyState, Loaded, Skeleton } from "../../ui/State.tsx";
import { Charts } from "./Charts.tsx";
import { Controls, CustomRange } from "./Controls.tsx";
import { ModelResults } from "./ModelResults.tsx";
import { PointTable } from "./PointTable.tsx";
import { Ranking } from "./Ranking.tsx";
import { RedactionResults } from "./RedactionResults.tsx";
import { Patterns } from "./Swatch.tsx";
import { Totals } from "./Totals.tsx";
import { rangeText } from "./utc-times.ts";
import { askOf, countedUrl, faultsOf, rangeFault, type Search, type View, viewOf } from "./view.ts";
import "../../styles/insights.css";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/insights");

type Params = { projectId: string; agentId: string };

export function InsightsPage() {
  const params = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const view = viewOf(search);
  const shows = view.range !== "custom" || !rangeFault(view.from, view.to);
  const isOfTests = view.by !== "model" && view.by !== "redaction";
  const insights = useQuery({ ...insightsQuery(params.agentId, askOf(view)), enabled: shows && isOfTests });
  return (
    <Page
      title="Insights"
      actions={
        <Link to="/projects/$projectId/agents/$agentId/judging" params={params} className="button">
          Judge usage
        </Link>
      }
    >
      <div className="insights stack" aria-busy={insights.isPlaceholderData}>
        <InvalidFilters faults={faultsOf(search)} />
        <Controls view={view} search={search} params={params} insights={insights.data} />
        {view.range === "custom" && (
          <CustomRange
            key={`${view.from} ${view.to}`}
            view={view}
            insights={insights.data}
            onChoose={(from, to) => void navigate({ search: { ...search, from, to, interval: undefined } })}
          />
        )}
        {shows && view.by === "model" && <ModelResults view={view} params={params} />}
        {shows && view.by === "redaction" && <RedactionResults view={view} params={params} />}
        {shows && isOfTests && (
          <Loaded query={insights}>
            {data => <Results insights={data} view={view} search={search} params={params} />}
          </Loaded>
        )}
      </div>
    </Page>
  );
}

type ResultsProps = { insights: Insights; view: View; search: Search; params: Params };

function Results({ insights, view, search, params }: ResultsProps) {
  const { projectId, agentId } = params;
  const { from, to, interval, series } = insights;
  const urlOf = useMemo(
    () => countedUrl({ projectId, agentId }, { from, to, interval }),
    [projectId, agentId, from, to, interval],
  );
  const { by, testId } = view;
  const isOneSeries = by === "agent" || (by === "test" && testId !== undefined);
  const points = series[0]?.points ?? [];
  const isEmpty = series.every(({ points }) => points.length === 0);
  const noun = by === "agent" ? "Evaluations" : "Results";
  const common = { noun, urlOf, testId };
  return (
    <>
      {testId !== undefined && <OneTest testId={testId} params={params} search={search} />}
      <p className="quiet small">
        {rangeText(Date.parse(from), Date.parse(to), interval)} UTC,{" "}
        {interval === "hour" ? "hourly" : "daily"}. Shows {countedTexts[by]}.
      </p>
      {isEmpty ? (
        <NoEvaluations params={params} search={search} view={view} />
      ) : isOneSeries ? (
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
            urlOf={urlOf}
            params={params}
            search={search}
          />
        </>
      )}
    </>
  );
}

const countedTexts: Partial<Record<View["by"], string>> = {
  agent: "traces by the verdict of their latest evaluation",
  test: "results of test cases; re-evaluating a trace replaces its latest results",
  check: "outcomes of checks; re-evaluating a trace replaces its latest outcomes",
};

function totalOf({ total, series }: Insights): Tally & Partial<AgentTally> {
  if (total) return total;
  const points = series.flatMap(of => of.points);
  const counts = sumOf(points);
  const judged = counts.passed + counts.failed;
  return {
    counts,
    notFullyEvaluated: sumOfOthers(points),
    passRate: judged === 0 ? null : counts.passed / judged,
  };
}

/** The name of the only test shown, with links to its pages. */
function OneTest({ testId, params, search }: { testId: string; params: Params; search: Search }) {
  const { data: test } = useQuery(testQuery(testId));
  const to = "/projects/$projectId/agents/$agentId/insights";
  return (
    <p className="line">
      <strong className="break">{test?.name ?? "Test case"}</strong>
      <Link to="/projects/$projectId/agents/$agentId/tests/$testId" params={{ ...params, testId }}>
        Edit
      </Link>
      <Link to="/projects/$projectId/agents/$agentId/tests/$testId/results" params={{ ...params, testId }}>
        Results
      </Link>
      <Link to={to} params={params} search={{ ...search, by: search.by === "check" ? "test" : "check" }}>
        {search.by === "check" ? "Over time" : "Checks of this test"}
      </Link>
      <Link to={to} params={params} search={{ ...search, testId: undefined }}>
        All {search.by === "check" ? "checks" : "test cases"}
      </Link>
    </p>
  );
}

/** Why there are no evaluations, and the next step. */
function NoEvaluations({ params, search, view }: { params: Params; search: Search; view: View }) {
  const last = useQuery(lastTraceQuery(params.agentId));
  const tests = useInfiniteQuery(testsQuery(params.agentId));
  if (last.data === undefined || tests.data === undefined) return <Skeleton />;
  if (last.data === null) {
    return (
      <EmptyState icon="agent" title="No traces yet">
        <p className="quiet">Results appear here once this agent sends traces and a test case checks them.</p>
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
      <EmptyState icon="none" title="No test case applies to live traffic">
        <p className="quiet">
          {tests.data.length === 0
            ? "Traces are arriving, but no test case checks them yet."
            : "All test cases are disabled or manual-only."}
        </p>
        <Link
          className="button"
          data-look="main"
          to="/projects/$projectId/agents/$agentId/tests/$testId"
          params={{ ...params, testId: "new" }}
        >
          Create test case
        </Link>
        {tests.data.length > 0 && (
          <Link to="/projects/$projectId/agents/$agentId/tests" params={params}>
            View test cases
          </Link>
        )}
      </EmptyState>
    );
  }
  const wider = view.range === "24h" ? "7d" : "30d";
  return (
    <EmptyState icon="clock" title="No evaluations in this period">
      <p className="quiet">Try a longer period, or check whether traces arrived.</p>
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
        View traces
      </Link>
    </EmptyState>
  );
}
