// The cells of the list of traces.
import { Link } from "@tanstack/react-router";
import { durationText, passedText } from "../../format.ts";
import { counted, countsText, outcomes, routingUnavailable, runStates, type Word } from "../../labels.ts";
import type { TraceRow } from "../../queries/use-trace-list.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { useNow } from "../../ui/now.ts";
import { NextTry, remainingText } from "../../ui/Time.tsx";

type SubjectProps = {
  row: TraceRow;
  /** Whether the rows have different names: one that all share says nothing. */
  namesDiffer: boolean;
  params: { projectId: string; agentId: string; traceId: string };
};

/** The link to the trace: the user's first words, the name where names differ or nothing was said, and its marks. */
export function Subject({ row, namesDiffer, params }: SubjectProps) {
  const { kind, path, failed, revision, name, userInput } = row;
  return (
    <>
      <Link to="/projects/$projectId/agents/$agentId/traces/$traceId" params={params} className="trace-link">
        {userInput && <bdi className="trace-input">{userInput}</bdi>}{" "}
        {(namesDiffer || !userInput) && <bdi className="trace-name">{name || "Unnamed"}</bdi>}
      </Link>
      {failed && (
        <span className="mark text-bad" title="At least one span failed">
          <Icon name="warning" />
          <span>Failed span</span>
        </span>
      )}
      {kind === "test_run" && (
        <span className="mark quiet">
          <span>Test run</span>
        </span>
      )}
      {revision > 1 && path === "canonical" && (
        <span className="mark quiet" title={`Resent with the same id (revision ${revision})`}>
          <span>Replaced</span>
        </span>
      )}
      {revision > 1 && path === "otlp" && (
        <span className="mark quiet" title={`Merged from several batches (revision ${revision})`}>
          <span>Merged</span>
        </span>
      )}
    </>
  );
}

const withoutVerdict = {
  ok: "no test applied",
  not_needed: "no test applied",
  no_user_input: "no user input",
  unavailable: undefined,
} as const;

/**
 * The verdict with its counts, the evaluation's state, or why there is none. Without a judge "Routing unavailable" is
 * expected, so it is shown quietly.
 */
export function RunCell({ row: { run, kind }, hasJudge }: { row: TraceRow; hasJudge: boolean }) {
  if (run === null) {
    const why = kind === "test_run" ? "part of a manual run" : "no eligible test";
    return <Stated word={runStates.none} more={why} />;
  }
  const { state, verdict, counts, routing } = run;
  if (state === "pending") {
    return (
      <>
        <Badge word={runStates.pending} />
        <Countdown to={run.dueAt} />
      </>
    );
  }
  if (run.waiting) {
    return (
      <>
        <Badge word={runStates.waiting} />
        <bdi className="quiet small" title={run.waiting.reason}>
          <NextTry at={run.waiting.nextTryAt} />
        </bdi>
      </>
    );
  }
  if (state !== "completed") return <Stated word={runStates[state]} more={run.error} />;
  return (
    <>
      {verdict && counts ? (
        <>
          <Badge word={outcomes[verdict]} />
          <span className="row-count quiet small" title={countsText(counts)}>
            {verdict === "passed" || verdict === "failed"
              ? passedText(counts, "test")
              : counted(counts[verdict], "test")}
          </span>
          <span className="unseen">, {countsText(counts)}</span>
        </>
      ) : (
        <Stated word={runStates.completed} more={routing && withoutVerdict[routing]} />
      )}
      {routing === "unavailable" && (
        <span
          className={hasJudge ? "mark text-warn" : "mark quiet"}
          title={`“Run when relevant” tests were not evaluated${hasJudge ? "" : ": the project has no judge"}`}
        >
          <Icon name={routingUnavailable.icon} />
          <span>{routingUnavailable.text}</span>
        </span>
      )}
    </>
  );
}

function Stated({ word, more }: { word: Word; more?: string | null | undefined }) {
  return (
    <>
      <Badge word={word} />
      {more && (
        <bdi className="quiet small" title={more}>
          {more}
        </bdi>
      )}
    </>
  );
}

function Countdown({ to }: { to: string }) {
  const left = Date.parse(to) - useNow(1_000);
  return <span className="row-count quiet small">{left > 0 ? `in ${remainingText(left)}` : "due now"}</span>;
}

/** From 10 ms to 100 s on one logarithmic scale, so that bars of different rows can be compared. */
const decades = 4;

export function Duration({ ms }: { ms: number }) {
  const share = Math.min(1, Math.max(0.02, (Math.log10(Math.max(ms, 1)) - 1) / decades));
  return (
    <span className="duration">
      <span>{durationText(ms)}</span>
      <span className="duration-bar" aria-hidden="true">
        <span style={{ inlineSize: `${share * 100}%` }} />
      </span>
    </span>
  );
}
