// Badges of a test run: its outcome, and how it compares with the previous test run.
import type { LaunchedRun } from "../../../src/http/test-cases/launch-schemas.ts";
import { changes, flakyWord, manualStates, outcomeWord, type Word } from "../../labels.ts";
import { Badge } from "../../ui/Badge.tsx";

type Ended = Pick<LaunchedRun, "state" | "verdict" | "fullyEvaluated">;

export function RunOutcome({ run }: { run: Ended }) {
  return <Badge word={outcomeOf(run)} />;
}

/** A run that is evaluated again has its earlier verdict until it completes. */
export function outcomeOf({ state, verdict, fullyEvaluated }: Ended): Word {
  const isOpen = state === "pending" || state === "running";
  return verdict && !isOpen ? outcomeWord(verdict, fullyEvaluated) : manualStates[state];
}

type Comparison = Pick<LaunchedRun, "change" | "firstRun" | "flaky">;

/** Nothing if the outcome is the same as last time, or if earlier runs of the test left nothing to compare with. */
export function Compared({ run: { change, firstRun, flaky } }: { run: Comparison }) {
  const word =
    change === null || change === "same" || (change === "new" && !firstRun) ? undefined : changes[change];
  if (!word && !flaky) return null;
  return (
    <span className="line">
      {word && <Badge word={word} />}
      {flaky && <Badge word={flakyWord} />}
    </span>
  );
}
