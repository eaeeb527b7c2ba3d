// Dry-run panel: runs the current draft, saved or not, on a past trace and shows the result. Nothing is stored.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useId, useRef, useState } from "react";
import type { DryRun } from "../../../src/http/test-cases/editor-schemas.ts";
import type { ListedTrace } from "../../../src/http/traces/schemas.ts";
import { type Answer, type Failure, failureOf } from "../../api.ts";
import { dryRun } from "../../mutations/tests.ts";
import { pastTracesQuery, restsOnKey } from "../../queries/editor.ts";
import { outlineQuery } from "../../queries/traces.ts";
import { useShortcut } from "../../shell/shortcuts.ts";
import { Verdict } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import { Keys } from "../../ui/Keys.tsx";
import { FailureNotice, Notice } from "../../ui/Notice.tsx";
import { RelativeTime } from "../../ui/Time.tsx";
import { TraceText } from "../../ui/TraceText.tsx";
import { ChooseTrace } from "./ChooseTrace.tsx";
import { DryRunResult } from "./DryRunResult.tsx";
import type { Editing } from "./document.ts";
import { IssueList } from "./IssueList.tsx";
import { isOneTrial } from "./same-trial.ts";

type PanelProps = {
  projectId: string;
  agentId: string;
  editing: Editing;
  /** Undefined: use the latest trace. */
  traceId: string | undefined;
  /** The trace that the test was drafted from. */
  draftedFrom: string | undefined;
  /** It was drafted as the opposite of what that trace did. */
  mustFail: boolean;
  onTrace: (traceId: string) => void;
  onPath: (path: string) => void;
};

type Attempt =
  | { state: "running" }
  | { state: "failed"; failure: Failure }
  | { state: "done"; run: DryRun; document: unknown };

export function DryRunPanel({
  projectId,
  agentId,
  editing,
  traceId,
  draftedFrom,
  mustFail,
  onTrace,
  onPath,
}: PanelProps) {
  const routingId = useId();
  const [choosing, setChoosing] = useState(false);
  const [routing, setRouting] = useState(false);
  const latest = useQuery(pastTracesQuery(agentId, ""));
  const isListed = latest.data?.some(({ id }) => id === traceId);
  const isGone = useIsGone(agentId, isListed === false ? traceId : undefined);
  const chosen = (isGone ? undefined : traceId) ?? latest.data?.[0]?.id;
  const [attempt, run, stop] = useDryRun(agentId);
  const start = () => {
    if (chosen !== undefined) void run({ test: editing.document, traceId: chosen, routing });
  };
  useShortcut("mod+enter", "Start a dry run", () => {
    if (!document.querySelector("[role=dialog], [role=alertdialog]")) start();
  });
  const isRunning = attempt?.state === "running";

  return (
    <section className="card stack" aria-labelledby={`${routingId}-heading`}>
      <div className="stack-tight">
        <h2 id={`${routingId}-heading`}>Dry run</h2>
        <p className="quiet small">Tries this draft on a past trace. Nothing is saved.</p>
      </div>
      {latest.error && chosen === undefined && <FailureNotice failure={failureOf(latest.error)} />}
      {latest.data && chosen === undefined ? (
        <p className="quiet">A dry run needs a trace, and this agent has none yet.</p>
      ) : (
        <>
          {isGone && <Notice tone="warn">{traceGone} The latest one is used.</Notice>}
          {chosen !== undefined && (
            <div className="line line-apart editor-trace">
              <ChosenTrace traceId={chosen} known={latest.data?.find(({ id }) => id === chosen)} />
              <Button small onClick={() => setChoosing(true)}>
                Choose trace
              </Button>
            </div>
          )}
          <label className="choice">
            <input type="checkbox" checked={routing} onChange={({ target }) => setRouting(target.checked)} />
            <span>Also check whether the scenario matches this trace</span>
          </label>
          <div className="line">
            <Button look="main" busy={isRunning} onClick={start}>
              {isRunning ? "Running" : "Run"}
            </Button>
            {isRunning ? <Button onClick={stop}>Stop</Button> : <Keys keys="mod+Enter" />}
          </div>
        </>
      )}
      {editing.fault && (
        <p className="quiet small">The JSON is invalid: the dry run uses the last valid version.</p>
      )}
      <div className="stack editor-news" aria-live="polite">
        {isRunning && <p className="quiet">Running. The judge may take up to a minute.</p>}
        {attempt?.state === "failed" && <DryRunFailure failure={attempt.failure} onPath={onPath} />}
        {attempt?.state === "done" && (
          <>
            {!isOneTrial(editing.document, [attempt.document, attempt.run.result.test]) && (
              <Notice tone="warn">Outdated: the test has changed. Run it again.</Notice>
            )}
            {attempt.run.traceId !== chosen && <Notice tone="warn">This result is for another trace.</Notice>}
            <DryRunResult
              run={attempt.run}
              place={{ projectId, agentId }}
              isOfDraft={attempt.run.traceId === draftedFrom}
              mustFail={mustFail}
            />
          </>
        )}
      </div>
      {choosing && (
        <ChooseTrace
          agentId={agentId}
          chosen={chosen}
          onClose={() => setChoosing(false)}
          onChoose={id => {
            setChoosing(false);
            onTrace(id);
          }}
        />
      )}
    </section>
  );
}

/** Whether the agent has no such trace. */
function useIsGone(agentId: string, traceId: string | undefined): boolean {
  const { data, error } = useQuery({ ...outlineQuery(traceId ?? ""), enabled: traceId !== undefined });
  if (data) return data.agentId !== agentId;
  return error !== null && failureOf(error).code === "NOT_FOUND";
}

export const traceGone = "Trace not found: it was deleted or belongs to another agent.";

type DryRunRequest = { test: unknown; traceId: string; routing: boolean };

/** One dry run at a time: starting another one, or leaving the page, aborts the request. */
function useDryRun(
  agentId: string,
): [attempt: Attempt | undefined, run: (request: DryRunRequest) => Promise<void>, stop: () => void] {
  const [attempt, setAttempt] = useState<Attempt>();
  const open = useRef<AbortController>(undefined);
  const queries = useQueryClient();
  useEffect(() => () => open.current?.abort(), []);
  async function run(request: DryRunRequest): Promise<void> {
    open.current?.abort();
    const controller = new AbortController();
    open.current = controller;
    setAttempt({ state: "running" });
    const { signal } = controller;
    let answer: Answer<DryRun>;
    try {
      answer = await dryRun(agentId, request, signal);
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    // The judge may have been asked what criteria rest on.
    void queries.invalidateQueries({ queryKey: restsOnKey(agentId) });
    if (answer.ok) setAttempt({ state: "done", run: answer.value, document: request.test });
    else setAttempt({ state: "failed", failure: answer.failure });
  }
  const stop = () => {
    open.current?.abort();
    setAttempt(undefined);
  };
  return [attempt, run, stop];
}

function DryRunFailure({ failure, onPath }: { failure: Failure; onPath: (path: string) => void }) {
  if (failure.code === "NOT_FOUND") {
    return <Notice tone="bad">{traceGone} Choose another trace.</Notice>;
  }
  if (failure.code !== "VALIDATION_ERROR" || !failure.issues) return <FailureNotice failure={failure} />;
  return (
    <Notice tone="bad">
      <p>Fix these first:</p>
      <IssueList issues={failure.issues} onGo={onPath} />
    </Notice>
  );
}

/** Fetches the trace if it is not among the latest ones. */
function ChosenTrace({ traceId, known }: { traceId: string; known: ListedTrace | undefined }) {
  const { data } = useQuery({ ...outlineQuery(traceId), enabled: known === undefined });
  const trace = known ?? data;
  if (!trace) return <code className="break">{traceId}</code>;
  return <TraceLine trace={trace} />;
}

/** A trace in two lines: name, verdict and time; then the user's first words. */
export function TraceLine({ trace }: { trace: Omit<ListedTrace, "failedTests" | "redacted"> }) {
  return (
    <span className="stack-tight">
      <span className="line">
        <strong className="break">{trace.name}</strong>
        <Verdict run={trace.run} />
        <span className="quiet small">
          <RelativeTime at={trace.receivedAt} />
        </span>
      </span>
      <span className="quiet editor-words">
        {trace.userInput === null ? "No user input" : <TraceText text={trace.userInput} />}
      </span>
    </span>
  );
}
