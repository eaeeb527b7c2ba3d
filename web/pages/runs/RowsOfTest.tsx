// The runs of one test in a launch, by input: how many repeats passed, why not, and a link to each run.
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import type { LaunchedRun, LaunchTest } from "../../../src/http/test-cases/launch-schemas.ts";
import type { RunResult } from "../../../src/model/run/launch.ts";
import { numberText } from "../../format.ts";
import { runsOfTestQuery } from "../../queries/launches.ts";
import { Icon } from "../../ui/Icon.tsx";
import { Loaded, MorePages } from "../../ui/State.tsx";
import { Compared, outcomeOf, RunOutcome } from "./RunOutcome.tsx";
import { Reason } from "./RunTable.tsx";
import { type RunRow, rowsOfRuns } from "./run-rows.ts";

type Params = { projectId: string; agentId: string; launchId: string };

type RowsOfTestProps = { test: LaunchTest; result: RunResult | undefined; params: Params };

export function RowsOfTest({ test, result, params }: RowsOfTestProps) {
  const { testId, testName, counts } = test;
  const runs = useInfiniteQuery(runsOfTestQuery(params.launchId, testId, result));
  useReadAgain(counts, ["launches", params.launchId, "runs", testId]);
  return (
    <>
      <Loaded query={runs}>
        {found =>
          found.length === 0 ? (
            <p className="quiet">No test runs with this result.</p>
          ) : (
            <ol className="run-rows" aria-label={`Runs of ${testName}`}>
              {rowsOfRuns(found).map(row => (
                <li key={row.runs[0]!.id}>
                  <Row row={row} params={params} />
                </li>
              ))}
            </ol>
          )
        }
      </Loaded>
      <MorePages query={runs} />
    </>
  );
}

/** When the counts of the test have changed, its runs have, too: events may be missed. */
function useReadAgain(counts: LaunchTest["counts"], queryKey: readonly string[]): void {
  const queries = useQueryClient();
  const key = JSON.stringify(queryKey);
  const now = JSON.stringify(counts);
  const read = useRef(now);
  useEffect(() => {
    if (read.current === now) return;
    read.current = now;
    void queries.invalidateQueries({ queryKey: JSON.parse(key) });
  }, [queries, key, now]);
}

type RowProps = { row: RunRow<LaunchedRun>; params: Params };

function Row({ row: { row, input, runs, passed, telling }, params }: RowProps) {
  const [only] = runs;
  return (
    <>
      <span className="run-rows-number">
        {row === null ? `Repeat ${only!.repeat}` : <>Input {numberText(row)}</>}
      </span>
      <div className="run-rows-text">
        {input !== null && (
          <span className="run-rows-input" dir="auto">
            {input}
          </span>
        )}
        {telling && (
          <span className="quiet small break">
            {runs.length > 1 && `Repeat ${telling.repeat}: `}
            <Reason run={telling} />
          </span>
        )}
      </div>
      {runs.length === 1 ? (
        <span className="line">
          <Link to={runPath} params={{ ...params, runId: only!.id }} className="runs-outcome-link">
            <RunOutcome run={only!} />
            <span className="unseen"> of {placeText(only!)}</span>
          </Link>
          <Compared run={only!} />
        </span>
      ) : (
        <span className="line">
          <span className="small">
            {numberText(passed)} of {numberText(runs.length)} passed
          </span>
          <RepeatLinks runs={runs} params={params} />
        </span>
      )}
    </>
  );
}

const runPath = "/projects/$projectId/agents/$agentId/runs/$launchId/$runId";

type RepeatLinksProps = {
  runs: readonly LaunchedRun[];
  params: Params;
  /** The run that is shown. */
  current?: string;
};

/** A link for each repeat, with the icon of its outcome. */
export function RepeatLinks({ runs, params, current }: RepeatLinksProps) {
  return (
    <span className="run-repeats">
      {runs.map(run => {
        const { text, icon, tone } = outcomeOf(run);
        return (
          <Link
            key={run.id}
            to={runPath}
            params={{ ...params, runId: run.id }}
            className="run-repeat"
            data-tone={tone}
            aria-current={run.id === current ? "page" : undefined}
            activeOptions={{ exact: true }}
            title={`Repeat ${run.repeat}: ${text}`}
          >
            <Icon name={icon} />
            <span aria-hidden="true">{run.repeat}</span>
            <span className="unseen">
              {placeText(run)}: {text}
            </span>
          </Link>
        );
      })}
    </span>
  );
}

function placeText({ row, repeat }: LaunchedRun): string {
  const parts = [row !== null && `input ${row}`, repeat !== null && `repeat ${repeat}`].filter(Boolean);
  return parts.join(", ") || "the test";
}
