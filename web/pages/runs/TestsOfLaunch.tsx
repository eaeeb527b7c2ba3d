// The tests of a launch with inputs or repeats: runs, results and pass rate of each, opened to its runs by input.
import { getRouteApi, Link } from "@tanstack/react-router";
import { Fragment, useState } from "react";
import type { LaunchDetail, LaunchTest } from "../../../src/http/test-cases/launch-schemas.ts";
import { numberText } from "../../format.ts";
import { counted } from "../../labels.ts";
import { useRowKeys } from "../../shell/row-keys.ts";
import { Button } from "../../ui/Button.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { PassRate } from "../../ui/PassRate.tsx";
import { CountsBar, countsOfLaunch, type Kind, kinds, wordOf } from "./Progress.tsx";
import { RowsOfTest } from "./RowsOfTest.tsx";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/runs/$launchId");
const path = "/projects/$projectId/agents/$agentId/runs/$launchId";

/** Tests beyond this number are shown on request. */
const shownMax = 200;

type TestsOfLaunchProps = {
  launch: LaunchDetail;
  params: { projectId: string; agentId: string; launchId: string };
};

export function TestsOfLaunch({ launch, params }: TestsOfLaunchProps) {
  const search = route.useSearch();
  const table = useRowKeys("test");
  const [all, setAll] = useState(false);
  const result = kinds.find(kind => kind === search.result);
  const tests = result ? launch.tests.filter(({ counts }) => counts[result] > 0) : launch.tests;
  const shown = all ? tests : tests.slice(0, shownMax);
  // A single test is open without being asked for.
  const opened = launch.tests.length === 1 ? launch.tests[0]!.testId : search.test;
  return (
    <>
      <ResultTabs launch={launch} result={result} params={params} />
      <div className="table-wrap">
        <table className="table runs-table runs-tests" ref={table}>
          <thead>
            <tr>
              <th scope="col" className="runs-name-column">
                Test case
              </th>
              <th scope="col">Results</th>
              <th scope="col" className="runs-rate-column">
                Pass rate
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map(test => (
              <Fragment key={test.testId}>
                <TestRow
                  test={test}
                  isOpen={test.testId === opened}
                  toggles={launch.tests.length > 1}
                  params={params}
                />
                {test.testId === opened && (
                  <tr className="runs-rows">
                    <td colSpan={3}>
                      <RowsOfTest test={test} result={result} params={params} />
                    </td>
                  </tr>
                )}
              </Fragment>
            ))}
          </tbody>
        </table>
      </div>
      {shown.length < tests.length && (
        <div className="more">
          <Button onClick={() => setAll(true)}>Show all {numberText(tests.length)}</Button>
        </div>
      )}
    </>
  );
}

type ResultTabsProps = TestsOfLaunchProps & { result: Kind | undefined };

/** Runs by result: those that there are, and the chosen one even if it has none any more. */
function ResultTabs({ launch: { counts }, result, params }: ResultTabsProps) {
  const total = kinds.reduce((sum, kind) => sum + counts[kind], 0);
  const tabs = [undefined, ...kinds.filter(kind => counts[kind] > 0 || kind === result)];
  return (
    <nav className="tabs runs-tabs" aria-label="Filter test runs by result">
      {tabs.map(kind => (
        <Link
          key={kind ?? "all"}
          to={path}
          params={params}
          search={was => ({ ...was, result: kind })}
          resetScroll={false}
          className="tab"
          aria-current={kind === result ? "page" : undefined}
          activeOptions={{ exact: true, includeSearch: true }}
        >
          {kind ? wordOf(kind).text : "All"}{" "}
          <span className="quiet">{numberText(kind ? counts[kind] : total)}</span>
        </Link>
      ))}
    </nav>
  );
}

type TestRowProps = {
  test: LaunchTest;
  isOpen: boolean;
  /** Whether it can be closed and opened. */
  toggles: boolean;
  params: TestsOfLaunchProps["params"];
};

function TestRow({ test, isOpen, toggles, params }: TestRowProps) {
  const { testId, testName, testDeleted, runs, counts, notFullyEvaluated, passRate } = test;
  return (
    <tr>
      <th scope="row">
        {toggles ? (
          <Link
            to={path}
            params={params}
            search={was => ({ ...was, test: isOpen ? undefined : testId })}
            resetScroll={false}
            className={isOpen ? "runs-toggle turned" : "runs-toggle"}
            aria-expanded={isOpen}
          >
            <Icon name="chevron" />
            <bdi>{testName}</bdi>
          </Link>
        ) : (
          <bdi>{testName}</bdi>
        )}
        <span className="runs-under">{testDeleted ? "Test case deleted" : sizeText(test)}</span>
      </th>
      <td>
        <span className="runs-cell">
          <CountsBar counts={counts} />
          <span className="small">{countsOfLaunch({ counts, notFullyEvaluated })}</span>
        </span>
      </td>
      <td>
        {passRate ? (
          <PassRate rate={passRate} />
        ) : (
          <span className="quiet">{counts.open === runs ? "Not finished" : "No passes or failures"}</span>
        )}
      </td>
    </tr>
  );
}

/** "20 inputs × 3 repeats". */
function sizeText({ inputCount, repeats }: LaunchTest): string {
  const parts = [
    ...(inputCount > 0 ? [counted(inputCount, "input")] : []),
    ...(repeats > 1 ? [counted(repeats, "repeat")] : []),
  ];
  return parts.length > 0 ? parts.join(" × ") : "1 test run";
}
