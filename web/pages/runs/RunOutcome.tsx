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

/** Nothing if the outcome is the same as last time. */
export function Compared({ run: { change, flaky } }: { run: Pick<LaunchedRun, "change" | "flaky"> }) {
  const isNew = change !== null && change !== "same";
  if (!isNew && !flaky) return null;
  return (
    <span className="line">
      {isNew && <Badge word={changes[change]} />}
      {flaky && <Badge word={flakyWord} />}
    </span>
  );
}
