// What a manual run came to, in a word; and whether that is new.
import type { LaunchedRun } from "../../../src/http/test-cases/launch-schemas.ts";
import { changes, flakyWord, manualStates, outcomes } from "../../labels.ts";
import { Badge } from "../../ui/Badge.tsx";

export function RunOutcome({ run: { state, verdict } }: { run: Pick<LaunchedRun, "state" | "verdict"> }) {
  return <Badge word={verdict ? outcomes[verdict] : manualStates[state]} />;
}

/** Nothing where it came out as the time before. */
export function Compared({ run: { change, flaky } }: { run: Pick<LaunchedRun, "change" | "flaky"> }) {
  const told = change !== null && change !== "same";
  if (!told && !flaky) return null;
  return (
    <span className="line">
      {told && <Badge word={changes[change]} />}
      {flaky && <Badge word={flakyWord} />}
    </span>
  );
}
