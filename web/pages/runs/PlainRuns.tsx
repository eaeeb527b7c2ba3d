// The test runs of a launch in which each test has one: a table with tabs for those that did not pass or have changed.
import { getRouteApi, Link } from "@tanstack/react-router";
import type { LaunchedRun } from "../../../src/http/test-cases/launch-schemas.ts";
import { numberText } from "../../format.ts";
import { counted } from "../../labels.ts";
import { EmptyState } from "../../ui/State.tsx";
import { RunTable } from "./RunTable.tsx";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/runs/$launchId");

const kinds = ["all", "failing", "changed"] as const;
const filterLabels = { all: "All", failing: "Not passed", changed: "Broke, fixed or flaky" };
const filters = { all: () => true, failing: hasNotPassed, changed: isChanged };
const emptyTexts = {
  all: { title: "No test runs left", about: "They were deleted along with their traces." },
  failing: {
    title: "All finished test runs passed",
    about:
      "Test runs that fail, error, are cancelled or skipped, lack instrumentation, or are not fully evaluated appear here.",
  },
  changed: {
    title: "Nothing has changed",
    about: "Every test run had the same result as the last run of its test.",
  },
};

type PlainRunsProps = {
  runs: readonly LaunchedRun[];
  params: { projectId: string; agentId: string; launchId: string };
};

/** `runs`: all of the launch. */
export function PlainRuns({ runs, params }: PlainRunsProps) {
  const { only } = route.useSearch();
  const kind = kinds.find(one => one === only) ?? "all";
  const runsOf = (one: (typeof kinds)[number]) => runs.filter(filters[one]);
  const shown = runsOf(kind);
  return (
    <>
      <nav className="tabs runs-tabs" aria-label="Filter test runs">
        {kinds.map(one => (
          <Link
            key={one}
            to="/projects/$projectId/agents/$agentId/runs/$launchId"
            params={params}
            search={{ only: one === "all" ? undefined : one }}
            resetScroll={false}
            className="tab"
            aria-current={one === kind ? "page" : undefined}
            activeOptions={{ exact: true, includeSearch: true }}
          >
            {filterLabels[one]} <span className="quiet">{numberText(runsOf(one).length)}</span>
          </Link>
        ))}
      </nav>
      {shown.length > 0 ? (
        <RunTable runs={shown} params={params} />
      ) : (
        <EmptyState icon="check" title={emptyTexts[kind].title}>
          <p className="quiet">{emptyTexts[kind].about}</p>
        </EmptyState>
      )}
      <MissingTraces runs={runs} params={params} />
    </>
  );
}

/** Below the table, so that nothing moves while the number grows. */
function MissingTraces({ runs, params }: PlainRunsProps) {
  const count = runs.filter(({ notices }) => notices.includes("no_trace_arrived")).length;
  if (count === 0) return null;
  return (
    <p className="quiet small">
      The agent sent no trace for {numberText(count)} of {counted(runs.length, "test run")}, so only reply,
      status and timing were checked there.{" "}
      <Link to="/projects/$projectId/agents/$agentId/start" params={params}>
        How to send traces
      </Link>
    </p>
  );
}

function hasNotPassed({ state, verdict, fullyEvaluated }: LaunchedRun): boolean {
  if (state === "pending" || state === "running") return false;
  return verdict !== "passed" || fullyEvaluated === false;
}

function isChanged({ change, flaky }: LaunchedRun): boolean {
  return change === "broke" || change === "mended" || flaky;
}
