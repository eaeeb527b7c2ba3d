// The head of a run: outcome, counts and score, when it ran, and how scenarios were matched.

import { Link, useNavigate } from "@tanstack/react-router";
import type { RunDetail } from "../../../../src/http/traces/schemas.ts";
import type { Counts } from "../../../../src/model/run/run.ts";
import { durationText, exactMomentText } from "../../../format.ts";
import { outcomes, routings, runStates } from "../../../labels.ts";
import { Badge, Verdict } from "../../../ui/Badge.tsx";
import { Icon } from "../../../ui/Icon.tsx";
import { Menu } from "../../../ui/Menu.tsx";
import { Notice } from "../../../ui/Notice.tsx";
import { NextTry, RelativeTime } from "../../../ui/Time.tsx";
import { useHasJudge } from "../../judge-usage/NoJudge.tsx";
import { useTrace } from "./context.ts";
import { Flag } from "./Flag.tsx";
import { number, worstFirst } from "./words.ts";

export function RunHeader({ run, latest }: { run: RunDetail; latest: RunDetail }) {
  const { trace, params } = useTrace();
  const { verdict, counts } = run;
  const checks = sumOf(run.results.map(result => result.counts));
  return (
    <div className="stack-tight run-header">
      <div className="line">
        <Verdict run={run} />
        {run.waiting && (
          <span>
            <NextTry at={run.waiting.nextTryAt} />
          </span>
        )}
        {verdict && counts && <Score counts={counts} noun="tests" />}
      </div>
      {verdict && counts && (
        <ul className="line" aria-label="Tests by outcome">
          {worstFirst
            .filter(outcome => counts[outcome] > 0)
            .map(outcome => (
              <li key={outcome}>
                <Badge
                  word={{
                    ...outcomes[outcome],
                    text: `${counts[outcome]} ${outcomes[outcome].text.toLowerCase()}`,
                  }}
                />
              </li>
            ))}
        </ul>
      )}
      {verdict && (
        <p className="quiet small">
          {scoreText(checks, "checks")}
          {checks.skipped + checks.missing_instrumentation > 0 &&
            " Skipped checks and those with missing instrumentation do not count."}
        </p>
      )}
      {run.state === "completed" && !verdict && (
        <p>No test ran, so there is no verdict. Each test below says why it did not run.</p>
      )}
      <p className="quiet small">
        <RunFacts run={run} />
        {run.launchId !== null && (
          <>
            {" · "}
            <Link
              to="/projects/$projectId/agents/$agentId/runs/$launchId/$runId"
              params={{ ...params, launchId: run.launchId, runId: run.id }}
            >
              Open run
            </Link>
          </>
        )}
      </p>
      {run.routing && run.kind === "passive" && <RoutingWord run={run} />}
      <SuspiciousInput run={run} />
      {run.revision !== null && run.revision !== trace.revision && (
        <Notice tone="info">
          The trace has changed since this run: revision {run.revision} was evaluated, it is now at revision{" "}
          {trace.revision}.
        </Notice>
      )}
      {run.id !== latest.id && (
        <p className="quiet small">
          {latest.state === "completed" ? "There is a later run" : "There is another run"}:{" "}
          {runStates[latest.waiting ? "waiting" : latest.state].text.toLowerCase()}.
        </p>
      )}
    </div>
  );
}

/** All runs, the latest first; only where there are several. */
export function RunMenu({ run }: { run: RunDetail }) {
  const { trace, params } = useTrace();
  const navigate = useNavigate();
  if (trace.runs.length < 2) return null;
  const choose = (id: string) =>
    void navigate({
      to: "/projects/$projectId/agents/$agentId/traces/$traceId",
      params: { ...params, traceId: trace.id },
      search: now => ({ ...now, run: id }),
      resetScroll: false,
    });
  return (
    <Menu
      small
      entries={[
        {
          kind: "choice",
          label: "Runs",
          chosen: run.id,
          choices: trace.runs.map(one => ({ value: one.id, label: runText(one) })),
          onChoose: choose,
        },
      ]}
    >
      Run of {timeOf(run)}
      <Icon name="chevron" />
    </Menu>
  );
}

function timeOf({ finishedAt, createdAt }: RunDetail): string {
  return exactMomentText(finishedAt ?? createdAt);
}

function runText(run: RunDetail): string {
  const revision = run.revision === null ? "" : ` · revision ${run.revision}`;
  const word = run.verdict ? outcomes[run.verdict] : runStates[run.waiting ? "waiting" : run.state];
  const again = run.cause === "again" ? " · re-evaluated" : "";
  return `${timeOf(run)}${revision}${again} · ${word.text}`;
}

function Score({ counts, noun }: { counts: Counts; noun: string }) {
  return <strong>{scoreText(counts, noun)}</strong>;
}

/** "8 of 9 counted checks passed (88.9%)." */
function scoreText(counts: Counts, noun: string): string {
  const counted = counts.passed + counts.failed;
  if (counted === 0) return `No score: none of the ${noun} counted.`;
  const share = number.format(Math.round((counts.passed / counted) * 1000) / 10);
  return `${counts.passed} of ${counted} counted ${noun} passed (${share}%).`;
}

function sumOf(all: Counts[]): Counts {
  const sum: Counts = { passed: 0, failed: 0, skipped: 0, missing_instrumentation: 0 };
  for (const counts of all) for (const outcome of worstFirst) sum[outcome] += counts[outcome];
  return sum;
}

/** All tests share the input, so this is shown once. */
function SuspiciousInput({ run: { tests } }: { run: RunDetail }) {
  const suspicious = tests.find(test => test.suspicious !== undefined)?.suspicious;
  if (suspicious === undefined) return null;
  return (
    <Flag title="User input flagged." reason={suspicious}>
      “No match” answers were ignored for this input, so no test was left out. No verdict changed.
    </Flag>
  );
}

function RunFacts({ run: { state, startedAt, finishedAt, revision, kind, cause } }: { run: RunDetail }) {
  const took = startedAt && finishedAt ? Date.parse(finishedAt) - Date.parse(startedAt) : null;
  return (
    <>
      {kind === "manual" ? "Manual run" : cause === "again" ? "Re-evaluated on request" : "Live evaluation"}
      {finishedAt && (
        <>
          {state === "error" || state === "cancelled" ? " · ended " : " · evaluated "}
          <RelativeTime at={finishedAt} />
        </>
      )}
      {took !== null && ` in ${durationText(took)}`}
      {revision !== null && ` · revision ${revision}`}
    </>
  );
}

function RoutingWord({ run: { routing } }: { run: RunDetail }) {
  const { params } = useTrace();
  const hasJudge = useHasJudge(params.projectId);
  if (!routing) return null;
  const { text, icon, tone: usual, about } = routings[routing];
  // Expected while there is no judge.
  const tone = usual === "warn" && !hasJudge ? "info" : usual;
  return (
    <div className="small">
      {tone && <Badge word={{ text, icon, tone }} />}{" "}
      <span className="quiet">
        {!tone && `${text}: `}
        {about}
      </span>
    </div>
  );
}
