// A run of the tests: its counts, when it ran, and how scenarios were matched.

import { Link, useNavigate } from "@tanstack/react-router";
import type { RunDetail } from "../../../../src/http/traces/run-schemas.ts";
import { durationText, exactMomentText } from "../../../format.ts";
import { Reevaluate } from "../../../forms/Reevaluate.tsx";
import { routings, runStates, tallyText } from "../../../labels.ts";
import { Badge, Verdict, verdictWord } from "../../../ui/Badge.tsx";
import { Icon } from "../../../ui/Icon.tsx";
import { Menu } from "../../../ui/Menu.tsx";
import { Notice } from "../../../ui/Notice.tsx";
import { NextTry, RelativeTime } from "../../../ui/Time.tsx";
import { useHasJudge } from "../../judge-usage/NoJudge.tsx";
import { useTrace } from "./context.ts";
import { Flag } from "./Flag.tsx";
import { notCountedText } from "./words.ts";

/** The counts in one line, and what limits them. */
export function RunHeader({ run, latest }: { run: RunDetail; latest: RunDetail }) {
  const { trace } = useTrace();
  const { verdict, counts } = run;
  return (
    <div className="stack-tight run-header">
      <p className="line">
        {/* The header of the page shows that of the trace. */}
        {(run.id !== trace.run?.id || run.state !== "completed") && <Verdict run={run} />}
        {run.waiting && <NextTry at={run.waiting.nextTryAt} />}
        {verdict && counts && <strong>{tallyText(counts, "test")}</strong>}
      </p>
      {run.state === "completed" && !verdict && (
        <p>No test ran, so there is no verdict. Each test below says why it did not run.</p>
      )}
      {run.id !== latest.id && (
        <>
          <p className="quiet small">
            {latest.state === "completed" ? "There is a later run" : "There is another run"}:{" "}
            {runStates[latest.waiting ? "waiting" : latest.state].text.toLowerCase()}.
          </p>
          {run.revision !== null && run.revision !== trace.revision && (
            <Notice tone="info">
              The trace has changed since this run: revision {run.revision} was evaluated, it is now at
              revision {trace.revision}.
            </Notice>
          )}
        </>
      )}
    </div>
  );
}

/** When the run took place and how scenarios were matched, folded. */
export function RunAbout({ run }: { run: RunDetail }) {
  const { trace, params } = useTrace();
  const isLast = run.id === trace.runs[0]?.id && run.state === "completed";
  const isJudged = run.results.length > 0;
  return (
    <>
      <SuspiciousInput run={run} />
      <details className="run-about">
        <summary>About this evaluation</summary>
        <div className="stack-tight">
          <p className="small">
            <RunFacts run={run} />
          </p>
          {run.launchId !== null && (
            <p className="small">
              <Link
                to="/projects/$projectId/agents/$agentId/runs/$launchId/$runId"
                params={{ ...params, launchId: run.launchId, runId: run.id }}
              >
                Open run
              </Link>
            </p>
          )}
          {run.routing && run.kind === "passive" && <RoutingWord run={run} />}
          {run.verdict && (
            <p className="quiet small">
              Skipped checks and those with missing instrumentation do not count.
              {run.fullyEvaluated === false && ` ${notCountedText}`}
            </p>
          )}
          {isLast && trace.kind === "live" && (
            <div className="stack-tight">
              <p className="quiet small">
                {isJudged
                  ? "A new run uses the same versions of the tests."
                  : "No test has judged this trace. A new run uses the tests as they are."}
              </p>
              <div>
                <Reevaluate {...params} what={{ traceIds: [trace.id] }} isFirst={!isJudged} />
              </div>
            </div>
          )}
        </div>
      </details>
    </>
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
  const again = run.cause === "again" ? " · re-evaluated" : "";
  return `${timeOf(run)}${revision}${again} · ${verdictWord(run).text}`;
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
