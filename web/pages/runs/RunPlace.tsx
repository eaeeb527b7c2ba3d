// Where a test run is among the inputs and repeats of its test, with links to the other repeats and the inputs beside it.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ManualRun } from "../../../src/http/test-cases/launch-schemas.ts";
import { launchQuery, repeatsQuery } from "../../queries/launches.ts";
import { RepeatLinks } from "./RowsOfTest.tsx";
import { placeOfRun } from "./run-rows.ts";

type RunPlaceProps = {
  run: ManualRun;
  params: { projectId: string; agentId: string; launchId: string; runId: string };
};

/** Nothing for a test without inputs and repeats. */
export function RunPlace({ run, params }: RunPlaceProps) {
  const { row, repeat, launchId, testId } = run;
  const isOneOfMany = row !== null || repeat !== null;
  const launch = useQuery({ ...launchQuery(launchId), enabled: isOneOfMany });
  const repeats = useQuery({ ...repeatsQuery(launchId, testId, row), enabled: isOneOfMany });
  if (!isOneOfMany) return null;
  const test = launch.data?.tests.find(one => one.testId === testId);
  return (
    <nav className="line run-place" aria-label="Inputs and repeats">
      <b>{placeOfRun(run, test)}</b>
      {repeats.data && repeats.data.length > 1 && (
        <RepeatLinks runs={repeats.data} params={params} current={run.id} />
      )}
      {row !== null && row > 1 && <NextInput run={run} row={row - 1} text="Previous input" params={params} />}
      {row !== null && test && row < test.inputCount && (
        <NextInput run={run} row={row + 1} text="Next input" params={params} />
      )}
    </nav>
  );
}

type NextInputProps = RunPlaceProps & { row: number; text: string };

/** The same repeat of another input, or its first that was not deleted. */
function NextInput({ run, row, text, params }: NextInputProps) {
  const { data = [] } = useQuery(repeatsQuery(run.launchId, run.testId, row));
  const next = data.find(({ repeat }) => repeat === run.repeat) ?? data[0];
  if (!next) return null;
  return (
    <Link
      to="/projects/$projectId/agents/$agentId/runs/$launchId/$runId"
      params={{ ...params, launchId: run.launchId, runId: next.id }}
      className="button button-small"
    >
      {text}
    </Link>
  );
}
