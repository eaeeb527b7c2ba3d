// The cells of the list of traces.
import { Link } from "@tanstack/react-router";
import { whyTexts } from "../../cost.ts";
import { durationText, exactMomentText, numberText, passedText } from "../../format.ts";
import { counted, countsText, outcomeWord, routingUnavailable, runStates, type Word } from "../../labels.ts";
import { moneyText } from "../../money.ts";
import type { TraceRow } from "../../queries/use-trace-list.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { useNow } from "../../ui/now.ts";
import { NextTry, RelativeTime, remainingText } from "../../ui/Time.tsx";
import { TraceText } from "../../ui/TraceText.tsx";
import type { TimeStyle } from "./display.ts";
import { durationShare } from "./duration-share.ts";

/** Absolute times have seconds, to be compared with logs. */
export function Received({ at, times }: { at: string; times: TimeStyle }) {
  if (times === "relative") return <RelativeTime at={at} />;
  return <time dateTime={at}>{exactMomentText(at)}</time>;
}

type SubjectProps = {
  row: TraceRow;
  /** Whether the rows have different names: one that all share says nothing. */
  namesDiffer: boolean;
  params: { projectId: string; agentId: string; traceId: string };
};

/** The link to the trace: the user's first words, the name where names differ or nothing was said, and its marks. */
export function Subject({ row, namesDiffer, params }: SubjectProps) {
  const { kind, path, failed, revision, name, userInput, redacted } = row;
  return (
    <>
      <Link to="/projects/$projectId/agents/$agentId/traces/$traceId" params={params} className="trace-link">
        {userInput && (
          <bdi className="trace-input" title={userInput}>
            <TraceText text={userInput} rules={redacted} />
          </bdi>
        )}{" "}
        {(namesDiffer || !userInput) && <bdi className="trace-name">{name || "Unnamed"}</bdi>}
      </Link>
      {failed && (
        <span className="mark text-bad" title="At least one span failed">
          <Icon name="warning" />
          <span>Failed span</span>
        </span>
      )}
      {redacted.length > 0 && <Redacted rules={redacted} />}
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

function Redacted({ rules }: { rules: string[] }) {
  const text = `Redacted: ${rules.join(", ")}`;
  return (
    <span className="mark redacted-mark quiet" role="img" aria-label={text} title={text}>
      <Icon name="redacted" />
    </span>
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
export function RunCell({ row, hasJudge }: { row: TraceRow; hasJudge: boolean }) {
  const { run, kind } = row;
  if (run === null) {
    const why = kind === "test_run" ? "part of a manual run" : "no eligible test";
    return <Stated word={runStates.none} more={why} />;
  }
  const { state, verdict, fullyEvaluated, counts, routing } = run;
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
          <Badge word={outcomeWord(verdict, fullyEvaluated)} />
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
      {counts && counts.failed > 0 && <FailedTests tests={row.failedTests} count={counts.failed} />}
    </>
  );
}

const chipsMax = 2;

/** The names of the first failed tests, cut where there is no room, and how many more there are. */
function FailedTests({ tests, count }: { tests: TraceRow["failedTests"]; count: number }) {
  if (tests.length === 0) return null;
  const more = count - Math.min(tests.length, chipsMax);
  const names = tests.map(({ name }) => name);
  const unnamed = count - tests.length;
  const all = unnamed > 0 ? [...names, `and ${counted(unnamed, "more test")}`] : names;
  return (
    <span className="failed-tests" title={`Failed:\n${all.join("\n")}`}>
      {tests.slice(0, chipsMax).map(({ id, name }) => (
        <bdi key={id} className="failed-test">
          {name}
        </bdi>
      ))}
      {more > 0 && (
        <span className="failed-more">
          +{numberText(more)}
          <span className="unseen"> failed</span>
        </span>
      )}
    </span>
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

/** What is known of it, and why not all. */
export function Cost({ row }: { row: TraceRow }) {
  const { costUsd, knownCostUsd } = row;
  if (costUsd !== null) return moneyText(costUsd);
  const why = whyTexts(row).join("\n");
  if (knownCostUsd === null) {
    return (
      <span className="quiet" title={why}>
        {why ? "no price" : "–"}
      </span>
    );
  }
  return (
    <span title={why}>
      <span aria-hidden="true">≥ </span>
      <span className="unseen">at least </span>
      {moneyText(knownCostUsd)}
    </span>
  );
}

/** With a bar beside those of the other rows. */
export function Duration({ ms, slowestMs }: { ms: number; slowestMs: number }) {
  const percent = durationShare(ms, slowestMs);
  return (
    <span className="duration" title={`${percent}% of the slowest trace listed`}>
      <span>{durationText(ms)}</span>
      <span className="unseen">, {percent}% of the slowest</span>
      <span className="duration-bar" aria-hidden="true">
        <span style={{ inlineSize: `${percent}%` }} />
      </span>
    </span>
  );
}
