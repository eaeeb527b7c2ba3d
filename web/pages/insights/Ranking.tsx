// A table of tests or checks, worst first, each with its counts and a small chart.

import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Insights, Series } from "../../../src/http/projects/insights-schemas.ts";
import type { Counts, Outcome } from "../../../src/model/run/outcome.ts";
import type { Assertion } from "../../../src/model/test-case/assertion.ts";
import { intervalText, numberText, rateText } from "../../format.ts";
import { checkTypes, notFullyEvaluated, outcomes } from "../../labels.ts";
import { sumOf, sumOfOthers } from "../../queries/test-insights.ts";
import { testsQuery } from "../../queries/tests.ts";
import { useFollow } from "../../shell/follow.ts";
import { Button } from "../../ui/Button.tsx";
import { PassRateShort } from "../../ui/PassRate.tsx";
import { Sparkline } from "./Sparkline.tsx";
import { type Counted, type CountedUrl, countedOnly, type Search } from "./view.ts";

const shown: Outcome[] = ["failed", "missing_instrumentation", "passed", "skipped"];
const rowsAtOnce = 100;

type RankingProps = {
  insights: Insights;
  of: "test" | "check";
  urlOf: CountedUrl;
  params: { projectId: string; agentId: string };
  /** The present one, which links extend. */
  search: Search;
};

export function Ranking({ insights, of, urlOf, params, search }: RankingProps) {
  const follow = useFollow();
  const [rows, setRows] = useState(rowsAtOnce);
  const ranked = rank(insights.series);
  const noun = of === "test" ? "Test case" : "Check";
  return (
    <>
      <div className="table-wrap" ref={follow}>
        <table className="table ranking">
          <caption className="unseen">{of === "test" ? "Test cases" : "Checks"}, worst first</caption>
          <thead>
            <tr>
              <th scope="col">{noun}</th>
              <th scope="col">Over time</th>
              <th scope="col" className="number">
                Pass rate
              </th>
              {shown.map(outcome => (
                <th key={outcome} scope="col" className="number">
                  {outcomes[outcome].text}
                </th>
              ))}
              {of === "test" && (
                <th scope="col" className="number">
                  {notFullyEvaluated.text}
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {ranked.slice(0, rows).map(({ series, counts }) => (
              <tr key={`${series.testId} ${series.checkId}`}>
                <th scope="row">
                  <Name series={series} params={params} />
                </th>
                <td data-label="Over time">
                  <Link
                    to="/projects/$projectId/agents/$agentId/insights"
                    params={params}
                    search={{ ...search, by: "test", testId: series.testId ?? undefined }}
                    aria-label={`Over time: ${series.name}`}
                    className="spark-link"
                  >
                    <Sparkline insights={insights} points={series.points} />
                  </Link>
                </td>
                <td data-label="Pass rate" className="number">
                  <span className="pass-rates">
                    <PassRateShort passed={counts.passed} of={counts.passed + counts.failed} />
                    {series.corrected && (
                      <span className="quiet small">
                        {`Corrected: ${rateText(series.corrected.rate)} (${intervalText(series.corrected)})`}
                      </span>
                    )}
                  </span>
                </td>
                {shown.map(outcome => (
                  <td key={outcome} data-label={outcomes[outcome].text} className="number">
                    {counts[outcome] === 0 ? (
                      <span className="quiet">0</span>
                    ) : (
                      <a href={urlOf(countedBy(series, of, outcome))}>{numberText(counts[outcome])}</a>
                    )}
                  </td>
                ))}
                {of === "test" && <Others series={series} urlOf={urlOf} />}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {ranked.length > rows && (
        <div className="more">
          <Button onClick={() => setRows(rows + rowsAtOnce)}>
            Show more ({numberText(ranked.length)} in total)
          </Button>
        </div>
      )}
    </>
  );
}

function Others({ series: { testId, points }, urlOf }: { series: Series; urlOf: CountedUrl }) {
  const others = sumOfOthers(points);
  return (
    <td data-label={notFullyEvaluated.text} className="number">
      {others === 0 ? (
        <span className="quiet">0</span>
      ) : (
        <a href={urlOf({ testId: testId ?? undefined, fullyEvaluated: false })}>{numberText(others)}</a>
      )}
    </td>
  );
}

type NameProps = { series: Series; params: { projectId: string; agentId: string } };

function Name({ series: { testId, checkId, name }, params }: NameProps) {
  const { data: tests = [], isSuccess } = useInfiniteQuery({
    ...testsQuery(params.agentId),
    enabled: checkId !== null,
  });
  const editor = (
    <Link to="/projects/$projectId/agents/$agentId/tests/$testId" params={{ ...params, testId: testId! }}>
      {name}
    </Link>
  );
  if (checkId === null) return editor;
  const test = tests.find(({ id }) => id === testId);
  const check = test?.assertions.find(({ id }) => id === checkId);
  return (
    <span className="stack-tight">
      <span>
        {check ? checkTypes[check.type] : "Check"} <code>{checkId}</code>
        {check && aboutOf(check) && <span className="quiet"> {aboutOf(check)}</span>}
        {isSuccess && test && !check && <span className="quiet"> no longer in the test</span>}
      </span>
      <span className="small">{editor}</span>
    </span>
  );
}

/** Tells it apart from other checks of its type. */
function aboutOf(check: Assertion): string | undefined {
  if (check.description) return check.description;
  return "expected_name" in check ? check.expected_name : undefined;
}

type Ranked = { series: Series; counts: Counts; passRate: number | null };

/** Lowest pass rate first; then most failures, most missing instrumentation, name. */
function rank(series: Series[]): Ranked[] {
  const ranked = series.map(one => {
    const counts = sumOf(one.points);
    const rated = counts.passed + counts.failed;
    return { series: one, counts, passRate: rated === 0 ? null : counts.passed / rated };
  });
  return ranked.sort(
    (a, b) =>
      (a.passRate ?? 2) - (b.passRate ?? 2) ||
      b.counts.failed - a.counts.failed ||
      b.counts.missing_instrumentation - a.counts.missing_instrumentation ||
      (a.series.name ?? "").localeCompare(b.series.name ?? ""),
  );
}

/** When a check failed, its test failed. A check with another outcome may be in a result of any outcome. */
function countedBy({ testId, points }: Series, of: "test" | "check", outcome: Outcome): Counted {
  if (of === "test") {
    return {
      testId: testId ?? undefined,
      outcome,
      ...countedOnly({ notFullyEvaluated: sumOfOthers(points) }),
    };
  }
  return { testId: testId ?? undefined, ...(outcome === "failed" && { outcome }) };
}
