// The progress of a launch: a state badge, counts, and a bar with one segment per outcome.
import type { Launch } from "../../../src/http/test-cases/launch-schemas.ts";
import type { LaunchCounts } from "../../../src/model/run/launch.ts";
import { numberText } from "../../format.ts";
import { launchStates, manualStates, outcomeWord, type Word } from "../../labels.ts";
import { Badge } from "../../ui/Badge.tsx";

/** The state of a launch; once completed, its worst outcome. */
export function LaunchStateBadge({ launch }: { launch: Launch }) {
  return <Badge word={launch.state === "completed" ? worstOf(launch) : launchStates[launch.state]} />;
}

function worstOf({ counts, notFullyEvaluated }: Launch): Word {
  const worst = (
    ["failed", "error", "missing_instrumentation", "cancelled", "passed", "skipped"] as const
  ).find(kind => counts[kind] > 0);
  return worst ? wordOf(worst, worst === "failed" || notFullyEvaluated === 0) : launchStates.completed;
}

type CountedLaunch = Pick<Launch, "counts" | "notFullyEvaluated">;
export type Kind = keyof LaunchCounts;

export const kinds: Kind[] = [
  "passed",
  "failed",
  "missing_instrumentation",
  "skipped",
  "error",
  "cancelled",
  "open",
];

export function wordOf(kind: Kind, fullyEvaluated = true): Word {
  if (kind === "open") return { text: "Remaining", icon: "clock" };
  return kind === "error" || kind === "cancelled" ? manualStates[kind] : outcomeWord(kind, fullyEvaluated);
}

/** "9 passed, 2 failed, 1 remaining". */
export function countsOfLaunch({ counts, notFullyEvaluated }: CountedLaunch): string {
  const ended = kinds
    .filter(kind => counts[kind] > 0)
    .map(kind => `${numberText(counts[kind])} ${wordOf(kind).text.toLowerCase()}`)
    .join(", ");
  return notFullyEvaluated > 0 ? `${ended}; ${numberText(notFullyEvaluated)} not fully evaluated` : ended;
}

/** The whole bar is all test runs of the launch. */
export function Progress({ launch }: { launch: Launch }) {
  const { counts, runCount } = launch;
  const ended = runCount - counts.open;
  return (
    <div
      className="runs-bar"
      role="progressbar"
      aria-label="Finished test runs"
      aria-valuemin={0}
      aria-valuemax={runCount}
      aria-valuenow={ended}
      aria-valuetext={`${ended} of ${runCount}: ${countsOfLaunch(launch)}`}
    >
      {kinds.map(kind =>
        counts[kind] > 0 ? <span key={kind} data-kind={kind} style={{ flexGrow: counts[kind] }} /> : null,
      )}
    </div>
  );
}

/** The same without meaning to screen readers, beside `countsOfLaunch`. */
export function CountsBar({ counts }: Pick<Launch, "counts">) {
  return (
    <span className="runs-bar runs-bar-cell" aria-hidden="true">
      {kinds.map(kind =>
        counts[kind] > 0 ? <span key={kind} data-kind={kind} style={{ flexGrow: counts[kind] }} /> : null,
      )}
    </span>
  );
}

/** Without inputs and repeats, a launch is a list of tests with one result each. */
export function hasOneRunPerTest({ runCount, testCount }: Pick<Launch, "runCount" | "testCount">): boolean {
  return runCount === testCount;
}

const quarters = 4;

/** For screen readers: announced at each quarter and at the end, not with every test run. */
export function ProgressNews({ launch }: { launch: Launch }) {
  const { state, counts, runCount } = launch;
  const isOpen = state === "queued" || state === "running";
  const quarter = Math.floor(((runCount - counts.open) / runCount) * quarters);
  const part = quarter > 0 ? `${(quarter * 100) / quarters}% finished` : "";
  return (
    <span role="status" className="unseen">
      {isOpen ? part : `${launchStates[state].text}: ${countsOfLaunch(launch)}`}
    </span>
  );
}
