// How far a launch is and what came of it so far: a word, counts, and a bar of one part for each outcome.
import type { Launch } from "../../../src/http/test-cases/launch-schemas.ts";
import type { LaunchCounts } from "../../../src/model/run/launch.ts";
import { numberText } from "../../format.ts";
import { launchStates, manualStates, outcomes, type Word } from "../../labels.ts";
import { Badge } from "../../ui/Badge.tsx";

/** A launch that has ended is named by the worst that came of it. */
export function LaunchStateBadge({ launch: { state, counts } }: { launch: Launch }) {
  return <Badge word={state === "completed" ? worstOf(counts) : launchStates[state]} />;
}

function worstOf(counts: LaunchCounts): Word {
  const worst = (
    ["failed", "error", "missing_instrumentation", "cancelled", "passed", "skipped"] as const
  ).find(kind => counts[kind] > 0);
  return worst ? wordOf(worst) : launchStates.completed;
}

type Kind = keyof LaunchCounts;

const kinds: Kind[] = [
  "passed",
  "failed",
  "missing_instrumentation",
  "skipped",
  "error",
  "cancelled",
  "open",
];

function wordOf(kind: Kind): Word {
  if (kind === "open") return { text: "To come", icon: "clock" };
  return kind === "error" || kind === "cancelled" ? manualStates[kind] : outcomes[kind];
}

/** "9 passed, 2 failed, 1 to come". */
export function countsOfLaunch(counts: LaunchCounts): string {
  return kinds
    .filter(kind => counts[kind] > 0)
    .map(kind => `${numberText(counts[kind])} ${wordOf(kind).text.toLowerCase()}`)
    .join(", ");
}

/** The whole length stands for all of the launch's runs. */
export function Progress({ launch }: { launch: Launch }) {
  const { counts, testCount } = launch;
  const ended = testCount - counts.open;
  return (
    <div
      className="runs-bar"
      role="progressbar"
      aria-label="Runs ended"
      aria-valuemin={0}
      aria-valuemax={testCount}
      aria-valuenow={ended}
      aria-valuetext={`${ended} of ${testCount}: ${countsOfLaunch(counts)}`}
    >
      {kinds.map(kind =>
        counts[kind] > 0 ? <span key={kind} data-kind={kind} style={{ flexGrow: counts[kind] }} /> : null,
      )}
    </div>
  );
}

const quarters = 4;

/** For whoever listens: said once a quarter of the launch has ended, and at its end, rather than with every run. */
export function ProgressNews({ launch: { state, counts, testCount } }: { launch: Launch }) {
  const isOpen = state === "queued" || state === "running";
  const quarter = Math.floor(((testCount - counts.open) / testCount) * quarters);
  const part = quarter > 0 ? `${(quarter * 100) / quarters} % ended` : "";
  return (
    <span role="status" className="unseen">
      {isOpen ? part : `${launchStates[state].text}: ${countsOfLaunch(counts)}`}
    </span>
  );
}
