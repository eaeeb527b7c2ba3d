// Tries the document, saved or not, on a past trace, and shows what came of it; nothing is stored.

import { useQuery } from "@tanstack/react-query";
import { useEffect, useId, useRef, useState } from "react";
import type { DryRun } from "../../../src/http/test-cases/editor-schemas.ts";
import type { ListedTrace } from "../../../src/http/traces/schemas.ts";
import { type Answer, type Failure, failureOf } from "../../api.ts";
import { dryRun } from "../../mutations/tests.ts";
import { pastTracesQuery } from "../../queries/editor.ts";
import { outlineQuery } from "../../queries/traces.ts";
import { useShortcut } from "../../shell/shortcuts.ts";
import { Verdict } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import { Keys } from "../../ui/Keys.tsx";
import { FailureNotice, Notice } from "../../ui/Notice.tsx";
import { RelativeTime } from "../../ui/Time.tsx";
import { ChooseTrace } from "./ChooseTrace.tsx";
import { DryRunResult } from "./DryRunResult.tsx";
import type { Editing } from "./document.ts";
import { IssueList } from "./IssueList.tsx";

type PanelProps = {
  projectId: string;
  agentId: string;
  editing: Editing;
  /** Undefined: the latest. */
  traceId: string | undefined;
  onTrace: (traceId: string) => void;
  onPath: (path: string) => void;
};

type Tried =
  | { state: "running" }
  | { state: "failed"; failure: Failure }
  | { state: "done"; run: DryRun; document: unknown };

export function DryRunPanel({ projectId, agentId, editing, traceId, onTrace, onPath }: PanelProps) {
  const routingId = useId();
  const [choosing, setChoosing] = useState(false);
  const [routing, setRouting] = useState(false);
  const latest = useQuery(pastTracesQuery(agentId, ""));
  const chosen = traceId ?? latest.data?.[0]?.id;
  const [tried, run, stop] = useDryRun(agentId);
  const start = () => {
    if (chosen !== undefined) void run({ test: editing.document, traceId: chosen, routing });
  };
  useShortcut("mod+enter", "Try the test case on the trace", () => {
    if (!document.querySelector("[role=dialog], [role=alertdialog]")) start();
  });
  const isRunning = tried?.state === "running";

  return (
    <section className="card stack" aria-labelledby={`${routingId}-heading`}>
      <div className="stack-tight">
        <h2 id={`${routingId}-heading`}>Dry-run</h2>
        <p className="quiet small">
          Tries what stands here, saved or not, on a past trace. Nothing is stored.
        </p>
      </div>
      {latest.error && chosen === undefined && <FailureNotice failure={failureOf(latest.error)} />}
      {latest.data && chosen === undefined ? (
        <p className="quiet">This agent has no trace yet: a dry-run needs one.</p>
      ) : (
        <>
          {chosen !== undefined && (
            <div className="line line-apart editor-trace">
              <ChosenTrace traceId={chosen} known={latest.data?.find(({ id }) => id === chosen)} />
              <Button small onClick={() => setChoosing(true)}>
                Choose a trace
              </Button>
            </div>
          )}
          <label className="choice">
            <input type="checkbox" checked={routing} onChange={({ target }) => setRouting(target.checked)} />
            <span>Also ask whether it would apply to this conversation</span>
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
        <p className="quiet small">The JSON does not parse: the form’s document is what is tried.</p>
      )}
      <div className="stack editor-news" aria-live="polite">
        {isRunning && <p className="quiet">Running. A judge may take up to a minute.</p>}
        {tried?.state === "failed" && <Refused failure={tried.failure} onPath={onPath} />}
        {tried?.state === "done" && (
          <>
            {JSON.stringify(tried.document) !== JSON.stringify(editing.document) && (
              <Notice tone="warn">Outdated: the test case has changed since. Run it again.</Notice>
            )}
            {tried.run.traceId !== chosen && <Notice tone="warn">This was on another trace.</Notice>}
            <DryRunResult run={tried.run} place={{ projectId, agentId }} />
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

type Asked = { test: unknown; traceId: string; routing: boolean };

/** The latest one alone: another, or leaving, withdraws it. */
function useDryRun(
  agentId: string,
): [tried: Tried | undefined, run: (asked: Asked) => Promise<void>, stop: () => void] {
  const [tried, setTried] = useState<Tried>();
  const open = useRef<AbortController>(undefined);
  useEffect(() => () => open.current?.abort(), []);
  async function run(asked: Asked): Promise<void> {
    open.current?.abort();
    const controller = new AbortController();
    open.current = controller;
    setTried({ state: "running" });
    const { signal } = controller;
    let answer: Answer<DryRun>;
    try {
      answer = await dryRun(agentId, asked, signal);
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    if (answer.ok) setTried({ state: "done", run: answer.value, document: asked.test });
    else setTried({ state: "failed", failure: answer.failure });
  }
  const stop = () => {
    open.current?.abort();
    setTried(undefined);
  };
  return [tried, run, stop];
}

function Refused({ failure, onPath }: { failure: Failure; onPath: (path: string) => void }) {
  if (failure.code === "NOT_FOUND") {
    return (
      <Notice tone="bad">
        This agent has no such trace: it was deleted, or belongs to another. Choose one.
      </Notice>
    );
  }
  if (failure.code !== "VALIDATION_ERROR" || !failure.issues) return <FailureNotice failure={failure} />;
  return (
    <Notice tone="bad">
      <p>It cannot be tried as it stands.</p>
      <IssueList issues={failure.issues} onGo={onPath} />
    </Notice>
  );
}

/** Read by itself where it is not among the latest. */
function ChosenTrace({ traceId, known }: { traceId: string; known: ListedTrace | undefined }) {
  const { data } = useQuery({ ...outlineQuery(traceId), enabled: known === undefined });
  const trace = known ?? data;
  if (!trace) return <code className="break">{traceId}</code>;
  return <TraceLine trace={trace} />;
}

/** A trace in two lines: its name and how it was judged, and its first words. */
export function TraceLine({ trace }: { trace: ListedTrace }) {
  return (
    <span className="stack-tight">
      <span className="line">
        <strong className="break">{trace.name}</strong>
        <Verdict run={trace.run} />
        <span className="quiet small">
          <RelativeTime at={trace.receivedAt} />
        </span>
      </span>
      <span className="quiet editor-words">{trace.userInput ?? "No user input"}</span>
    </span>
  );
}
