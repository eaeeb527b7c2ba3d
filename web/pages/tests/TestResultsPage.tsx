// The results of one test case: its last 30 days, and every evaluation or test run, filtered by outcome.

import {
  keepPreviousData,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
  useSuspenseQuery,
} from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useEffect } from "react";
import type { Day } from "../../../src/http/projects/insights-schemas.ts";
import type { ListedTest } from "../../../src/http/test-cases/schemas.ts";
import type { Outcome } from "../../../src/model/run/outcome.ts";
import { dayText, numberText, rateText, utcMoment } from "../../format.ts";
import type { Within } from "../../instant.ts";
import { eligibilities, ineligibilities, notFullyEvaluated, outcomes } from "../../labels.ts";
import { useLive } from "../../live.ts";
import { sumOf, sumOfOthers, testDaysQuery, testRunsQuery } from "../../queries/test-insights.ts";
import { testQuery } from "../../queries/tests.ts";
import { useRefresh } from "../../refreshing.ts";
import { InvalidFilters } from "../../ui/InvalidFilters.tsx";
import { evaluatedText, isEvaluated, OutcomeLegend, OutcomeStrip } from "../../ui/OutcomeStrip.tsx";
import { Page } from "../../ui/Page.tsx";
import { EmptyState, Loaded, MorePages } from "../../ui/State.tsx";
import { rangeText } from "../insights/utc-times.ts";
import { FailingNotice } from "./Failing.tsx";
import { ManualResults } from "./ManualResults.tsx";
import { OutcomeTabs } from "./OutcomeTabs.tsx";
import { ResultTable } from "./ResultTable.tsx";
import { faultsOf, filtersOf, type ResultFilters } from "./results-search.ts";
import { Versions } from "./Versions.tsx";
import "../../styles/tests.css";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/tests/$testId/results");
/** How many pages without a match are read automatically before the user must ask for more. */
const emptyPagesMax = 20;

export function TestResultsPage() {
  const params = route.useParams();
  const { agentId, testId } = params;
  const search = route.useSearch();
  const filters = filtersOf(search);
  const { isManual, outcome, period } = filters;
  const queries = useQueryClient();
  const { data: test } = useSuspenseQuery(testQuery(testId));
  const days = useQuery(testDaysQuery(agentId, testId));
  const { runs, isSearching } = useTestRuns(testId, filters);
  const refresh = useRefresh(() => queries.invalidateQueries({ queryKey: testQuery(testId).queryKey }));
  useLive({ agentId }, event => {
    const isOver = event.type === "launch" || (event.type === "run" && event.state === "completed");
    if (isOver || event.type === "refresh" || (event.type === "trace" && event.change === "deleted"))
      refresh();
  });

  return (
    <Page
      title={test.name}
      part="Results"
      about={`Results of this test case. ${aboutOf(test)}`}
      actions={
        <>
          <Link
            to="/projects/$projectId/settings/labels"
            params={{ projectId: params.projectId }}
            search={{ test: testId }}
            className="button"
          >
            Labels
          </Link>
          <Link to="/projects/$projectId/agents/$agentId/tests/$testId" params={params} className="button">
            Edit test case
          </Link>
        </>
      }
    >
      <div className="stack">
        <InvalidFilters faults={faultsOf(search)} />
        <FailingNotice params={params} />
        <div className="tests-days-place">
          <Loaded query={days}>{found => <Days days={found} />}</Loaded>
        </div>
        <Versions testId={testId} current={test.version} />
        <OutcomeTabs params={params} {...filters} />
        {isManual ? (
          <ManualResults params={params} />
        ) : (
          <>
            {period && <PeriodLine period={period} outcome={outcome} params={params} />}
            <Loaded query={runs}>
              {items =>
                items.length > 0 ? (
                  <ResultTable runs={items} test={test} params={params} />
                ) : (
                  !isSearching && <NoResult {...{ test, filters, params }} isComplete={!runs.hasNextPage} />
                )
              }
            </Loaded>
            {!isSearching && <MorePages query={runs} />}
            {isSearching && <p role="status">Searching earlier evaluations…</p>}
          </>
        )}
      </div>
    </Page>
  );
}

/** Evaluations of the test. Pages without a match are followed automatically, up to a limit. */
function useTestRuns(testId: string, filters: ResultFilters) {
  const { isManual } = filters;
  const query = testRunsQuery(testId, filters);
  const runs = useInfiniteQuery({ ...query, placeholderData: keepPreviousData });
  const { data: pages } = useInfiniteQuery({ ...query, select: pageCount });
  const { isFetching, hasNextPage, fetchNextPage, isFetchNextPageError } = runs;
  const isSearching =
    !isManual &&
    runs.data?.length === 0 &&
    hasNextPage &&
    !isFetchNextPageError &&
    pages !== undefined &&
    pages < emptyPagesMax;
  useEffect(() => {
    if (isSearching && !isFetching) void fetchNextPage();
  }, [isSearching, isFetching, fetchNextPage]);
  return { runs, isSearching };
}

type PeriodLineProps = {
  period: Within;
  outcome: Outcome | undefined;
  params: { projectId: string; agentId: string; testId: string };
};

function PeriodLine({ period, outcome, params }: PeriodLineProps) {
  return (
    <p className="line">
      <span>Scheduled {periodText(period)} (UTC)</span>
      <Link
        to="/projects/$projectId/agents/$agentId/tests/$testId/results"
        params={params}
        search={{ outcome }}
        resetScroll={false}
      >
        Any time
      </Link>
    </p>
  );
}

function periodText({ from, to }: Within): string {
  if (from && to) return rangeText(Date.parse(from), Date.parse(to), "hour");
  return from ? `since ${utcMoment.format(Date.parse(from))}` : `before ${utcMoment.format(Date.parse(to!))}`;
}

function pageCount({ pages }: { pages: unknown[] }): number {
  return pages.length;
}

function aboutOf({ eligibility, passiveBehavior }: ListedTest): string {
  if (eligibility !== null) return ineligibilities[eligibility];
  return passiveBehavior === "manual_only" ? "" : eligibilities[passiveBehavior];
}

function Days({ days }: { days: Day[] }) {
  const counts = sumOf(days);
  const counting = counts.passed + counts.failed;
  const evaluated = days.filter(isEvaluated);
  return (
    <section className="card stack-tight" aria-label="Last 30 days">
      <div className="line line-apart">
        <h2>Last 30 days</h2>
        <span>
          {counting === 0 ? (
            <span className="quiet">No passes or failures</span>
          ) : (
            <>
              <strong>{rateText(counts.passed / counting)}</strong> passed, {numberText(counts.passed)} of{" "}
              {numberText(counting)}
            </>
          )}
        </span>
      </div>
      <OutcomeStrip days={days} about="Last 30 days" large />
      <div className="line line-apart quiet small" aria-hidden="true">
        <span>{dayText(days[0]!.at)} (UTC)</span>
        <span>{dayText(days.at(-1)!.at)}</span>
      </div>
      <OutcomeLegend counts={counts} others={sumOfOthers(days)} />
      {evaluated.length > 0 && (
        <details>
          <summary>Show as table</summary>
          <table className="table tests-days">
            <thead>
              <tr>
                <th scope="col">Day (UTC)</th>
                <th scope="col">Outcomes</th>
                <th scope="col">Pass rate</th>
              </tr>
            </thead>
            <tbody>
              {evaluated.toReversed().map(day => (
                <tr key={day.at}>
                  <th scope="row">{dayText(day.at)}</th>
                  <td data-label="Outcomes">{evaluatedText(day)}</td>
                  <td data-label="Pass rate">{rateText(day.passRate)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      )}
    </section>
  );
}

type NoResultProps = {
  test: ListedTest;
  filters: ResultFilters;
  /** Every page was read. */
  isComplete: boolean;
  params: { projectId: string; agentId: string; testId: string };
};

function NoResult({ test, filters, isComplete, params }: NoResultProps) {
  const { outcome, fullyEvaluated, period } = filters;
  if (!isComplete) return <p className="quiet">No matches in the evaluations searched so far</p>;
  if (outcome || fullyEvaluated || period) {
    const word = outcome ? outcomes[outcome] : fullyEvaluated === "false" ? notFullyEvaluated : undefined;
    const nothing = word ? `No “${word.text}” results` : "No evaluations";
    return (
      <EmptyState icon={word?.icon ?? "clock"} title={period ? `${nothing} in this period` : nothing}>
        <Link
          to="/projects/$projectId/agents/$agentId/tests/$testId/results"
          params={params}
          className="button"
        >
          All results
        </Link>
      </EmptyState>
    );
  }
  return (
    <EmptyState icon="clock" title="No evaluations yet">
      {test.eligibility === null ? (
        <p className="quiet">Results appear with the next trace that this test applies to.</p>
      ) : (
        <>
          <p className="quiet">{ineligibilities[test.eligibility]}</p>
          <div className="line">
            <Link
              to="/projects/$projectId/agents/$agentId/tests/$testId/results"
              params={params}
              search={{ kind: "manual" }}
              resetScroll={false}
              className="button"
            >
              View test runs
            </Link>
            <Link to="/projects/$projectId/agents/$agentId/tests/$testId" params={params} className="button">
              Change passive behavior
            </Link>
          </div>
        </>
      )}
    </EmptyState>
  );
}
