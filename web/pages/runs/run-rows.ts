// Groups the runs of a test by its inputs: what each came to in all its repeats.
import type { LaunchedRun, LaunchTest } from "../../../src/http/test-cases/launch-schemas.ts";
import { numberText } from "../../format.ts";

type Run = Pick<LaunchedRun, "row" | "repeat" | "input" | "state" | "verdict" | "fullyEvaluated">;

export type RunRow<R> = {
  /** Null for a test without inputs. */
  row: number | null;
  input: string | null;
  /** By repeat. */
  runs: R[];
  /** And fully evaluated. */
  passed: number;
  /** The first that has ended otherwise. */
  telling: R | undefined;
};

/** `runs` are in the order of inputs and repeats; each repeat is a row of its own if the test has no inputs. */
export function rowsOfRuns<R extends Run>(runs: readonly R[]): RunRow<R>[] {
  const rows: RunRow<R>[] = [];
  for (const run of runs) {
    let last = rows.at(-1);
    if (!last || run.row === null || last.row !== run.row) {
      last = { row: run.row, input: run.input, runs: [], passed: 0, telling: undefined };
      rows.push(last);
    }
    last.runs.push(run);
    if (run.verdict === "passed" && run.fullyEvaluated !== false) last.passed += 1;
    else if (hasEnded(run)) last.telling ??= run;
  }
  return rows;
}

function hasEnded({ state }: Run): boolean {
  return state !== "pending" && state !== "running";
}

/** "Input 4 of 20, repeat 2 of 3"; without the totals until the test of the launch is known. */
export function placeOfRun(
  { row, repeat }: Pick<LaunchedRun, "row" | "repeat">,
  test: Pick<LaunchTest, "inputCount" | "repeats"> | undefined,
): string {
  const part = (word: string, at: number, of: number | undefined) =>
    `${word} ${numberText(at)}${of === undefined ? "" : ` of ${numberText(of)}`}`;
  const parts = [
    ...(row === null ? [] : [part("input", row, test?.inputCount)]),
    ...(repeat === null ? [] : [part("repeat", repeat, test?.repeats)]),
  ];
  const text = parts.join(", ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}
