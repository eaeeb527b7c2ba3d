// The table of a comparison: each test with both pass rates, and each input with both results and what changed.
import { Link } from "@tanstack/react-router";
import { Fragment } from "react";
import type {
  ComparedInput,
  ComparedTest,
  LaunchComparison,
  RunSummary,
} from "../../../src/http/test-cases/launch-schemas.ts";
import type { LaunchChange } from "../../../src/model/run/launch.ts";
import { numberText } from "../../format.ts";
import { launchChanges } from "../../labels.ts";
import { Badge } from "../../ui/Badge.tsx";
import { PassRate } from "../../ui/PassRate.tsx";
import { EmptyState } from "../../ui/State.tsx";
import type { CompareParams } from "./ComparePage.tsx";
import { differenceText, groupsOf, onlyResult } from "./comparison.ts";
import { countsOfLaunch, wordOf } from "./Progress.tsx";

const kinds = Object.keys(launchChanges) as LaunchChange[];

type ComparedTestsProps = {
  pages: readonly LaunchComparison[];
  params: CompareParams;
  /** A change, or "changed". */
  change: string | undefined;
};

export function ComparedTests({ pages, params, change }: ComparedTestsProps) {
  const groups = groupsOf(pages);
  const { changes, with: other } = pages[0]!;
  return (
    <>
      <ChangeTabs changes={changes} change={change} params={params} />
      {groups.length === 0 ? (
        <EmptyState icon="check" title={change === undefined ? "No test runs left" : "Nothing here"}>
          <p className="quiet">
            {change === undefined
              ? "They were deleted along with their traces."
              : "No test and input has changed in this way."}
          </p>
        </EmptyState>
      ) : (
        <div className="table-wrap">
          <table className="table runs-table runs-compared">
            <thead>
              <tr>
                <th scope="col" className="runs-name-column">
                  Test case
                </th>
                <th scope="col">Other run</th>
                <th scope="col">This run</th>
                <th scope="col" className="runs-change-column">
                  Change
                </th>
              </tr>
            </thead>
            <tbody>
              {groups.map(({ test, items }) => (
                <Fragment key={test.testId}>
                  {isOnlyTest(items) ? (
                    <ItemRow item={items[0]!} name={test.testName} other={other.id} params={params} />
                  ) : (
                    <>
                      <TestRow test={test} />
                      {items.map(item => (
                        <ItemRow key={item.id} item={item} other={other.id} params={params} />
                      ))}
                    </>
                  )}
                </Fragment>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

/** A test without inputs and repeats is one row. */
function isOnlyTest(items: readonly ComparedInput[]): boolean {
  const [item] = items;
  return (
    items.length === 1 && item!.input === null && (item!.before?.runs ?? 1) + (item!.after?.runs ?? 1) === 2
  );
}

type ChangeTabsProps = Pick<ComparedTestsProps, "change" | "params"> & Pick<LaunchComparison, "changes">;

function ChangeTabs({ changes, change, params }: ChangeTabsProps) {
  const all = kinds.reduce((sum, kind) => sum + changes[kind], changes.undecided);
  const tabs = [
    { kind: undefined, text: "All", count: all },
    { kind: "changed", text: "Changed only", count: all - changes.same },
    ...kinds
      .filter(kind => changes[kind] > 0 || kind === change)
      .map(kind => ({ kind, text: launchChanges[kind].text, count: changes[kind] })),
  ];
  return (
    <nav className="tabs runs-tabs" aria-label="Filter by change">
      {tabs.map(({ kind, text, count }) => (
        <Link
          key={text}
          to="/projects/$projectId/agents/$agentId/runs/$launchId/compare"
          params={params}
          search={was => ({ ...was, change: kind })}
          resetScroll={false}
          className="tab"
          aria-current={kind === change ? "page" : undefined}
          activeOptions={{ exact: true, includeSearch: true }}
        >
          {text} <span className="quiet">{numberText(count)}</span>
        </Link>
      ))}
    </nav>
  );
}

function TestRow({ test: { testName, testDeleted, before, after, difference } }: { test: ComparedTest }) {
  const text = differenceText(difference);
  return (
    <tr className="runs-compared-test">
      <th scope="row">
        <bdi>{testName}</bdi>
        {testDeleted && <span className="runs-under">Test case deleted</span>}
      </th>
      <td data-label="Other run">
        <Side summary={before} />
      </td>
      <td data-label="This run">
        <Side summary={after} />
      </td>
      <td data-label="Change">{text !== undefined && <span className="small">{text}</span>}</td>
    </tr>
  );
}

function Side({ summary }: { summary: RunSummary | null }) {
  if (summary === null) return <span className="quiet">Not in this run</span>;
  return summary.passRate ? (
    <PassRate rate={summary.passRate} />
  ) : (
    <span className="small">{countsOfLaunch(summary)}</span>
  );
}

/** `name`: of the test, if the item is all of it. */
type ItemRowProps = { item: ComparedInput; name?: string; other: string; params: CompareParams };

function ItemRow({ item, name, other, params }: ItemRowProps) {
  const { id, row, rowBefore, input, before, after, change } = item;
  const position = row ?? rowBefore;
  return (
    <tr className={name === undefined ? "runs-compared-input" : ""}>
      <th scope="row">
        <Link
          to="/projects/$projectId/agents/$agentId/runs/$launchId/$runId"
          params={{ ...params, launchId: after ? params.launchId : other, runId: id }}
        >
          {name !== undefined && <bdi>{name}</bdi>}
          {name === undefined && (position === null ? "All repeats" : `Input ${numberText(position)}`)}
        </Link>
        {input !== null && (
          <span className="run-rows-input" dir="auto">
            {input}
          </span>
        )}
      </th>
      <td data-label="Other run">
        <Result summary={before} />
      </td>
      <td data-label="This run">
        <Result summary={after} />
      </td>
      <td data-label="Change">
        {change === null ? (
          <span className="quiet small">No result to compare</span>
        ) : change === "same" ? (
          <span className="quiet small">{launchChanges.same.text}</span>
        ) : (
          <Badge word={launchChanges[change]} />
        )}
      </td>
    </tr>
  );
}

function Result({ summary }: { summary: RunSummary | null }) {
  if (summary === null) return <span className="quiet">–</span>;
  const only = onlyResult(summary);
  if (only) return <Badge word={wordOf(only, summary.notFullyEvaluated === 0)} />;
  return <span className="small">{countsOfLaunch(summary)}</span>;
}
