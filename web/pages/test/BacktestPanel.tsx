// Backtest panel of the editor: chooses how many past traces, shows the judge's cost, starts, and shows the latest backtest.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useId, useState } from "react";
import type { Backtest, BacktestEstimate } from "../../../src/http/test-cases/backtest-schemas.ts";
import type { ListedTest } from "../../../src/http/test-cases/schemas.ts";
import { type Answer, type Failure, failureOf } from "../../api.ts";
import { numberText } from "../../format.ts";
import { counted } from "../../labels.ts";
import { estimateText } from "../../money.ts";
import {
  type BacktestRequest,
  cancelBacktest,
  estimateBacktest,
  startBacktest,
} from "../../mutations/backtests.ts";
import { backtestQuery, backtestsQuery } from "../../queries/backtests.ts";
import { Button } from "../../ui/Button.tsx";
import { FailureNotice, Notice } from "../../ui/Notice.tsx";
import { useIsMounted } from "../../ui/use-is-mounted.ts";
import { BacktestOutcome } from "./BacktestOutcome.tsx";
import type { Editing } from "./document.ts";
import { IssueList } from "./IssueList.tsx";
import { isOneTrial } from "./same-trial.ts";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/tests/$testId");
const editorRoute = "/projects/$projectId/agents/$agentId/tests/$testId";

type PanelProps = {
  agentId: string;
  /** Null: not saved yet. */
  stored: ListedTest | null;
  editing: Editing;
  onPath: (path: string) => void;
};

type Step =
  | { step: "none" | "estimating" | "starting" }
  | { step: "estimated"; estimate: BacktestEstimate; request: BacktestRequest }
  | { step: "failed"; failure: Failure };

const sizes = [50, 100, 250, 500, 1_000];

export function BacktestPanel({ agentId, stored, editing, onPath }: PanelProps) {
  const headingId = useId();
  const queries = useQueryClient();
  const navigate = useNavigate({ from: editorRoute });
  const isMounted = useIsMounted();
  const { backtest: requested } = route.useSearch();
  const [traces, setTraces] = useState(100);
  const [state, setState] = useState<Step>({ step: "none" });
  /** What was tried on this page, by the backtest's id. */
  const [tried, setTried] = useState<{ id: string; document: unknown }>();
  const { data: all } = useQuery(backtestsQuery(agentId));
  const own = stored && all?.find(({ testId }) => testId === stored.id);
  const shownId = requested ?? own?.id;
  const shown = useQuery({ ...backtestQuery(shownId ?? ""), enabled: shownId !== undefined });
  const running = all?.[0]?.state === "running" ? all[0] : undefined;
  const isShownRunning = shown.data?.state === "running";

  async function start(request: BacktestRequest, judge: boolean): Promise<void> {
    setState({ step: "starting" });
    const answer = await startBacktest(agentId, { ...request, judge });
    await queries.invalidateQueries({ queryKey: backtestsQuery(agentId).queryKey });
    if (!answer.ok) return setState({ step: "failed", failure: answer.failure });
    const { id } = answer.value;
    queries.setQueryData(backtestQuery(id).queryKey, answer.value);
    setTried({ id, document: request.test });
    setState({ step: "none" });
    // The URL is another page's by now.
    if (!isMounted()) return;
    await navigate({ search: was => ({ ...was, backtest: id, group: undefined }), replace: true });
  }

  async function estimate(): Promise<void> {
    const request = { test: editing.document, testId: stored?.id, traces };
    setState({ step: "estimating" });
    const answer: Answer<BacktestEstimate> = await estimateBacktest(agentId, request);
    if (!answer.ok) setState({ step: "failed", failure: answer.failure });
    else if (!answer.value.needsJudge && answer.value.traces > 0) await start(request, false);
    else setState({ step: "estimated", estimate: answer.value, request });
  }

  const isBusy = state.step === "estimating" || state.step === "starting";
  const isChanged = (...tried: unknown[]) => !isOneTrial(editing.document, tried);
  const blocking = running && running.id !== shownId ? running : undefined;
  return (
    <section className="card stack" aria-labelledby={headingId} tabIndex={-1}>
      <div className="stack-tight">
        <h2 id={headingId}>Backtest</h2>
        <p className="quiet small">
          Tries this draft on many past traces and shows which verdicts flip. Nothing counts as an evaluation.
        </p>
      </div>
      {!isShownRunning && state.step !== "estimated" && (
        <div className="line">
          <label className="line">
            <span>Latest traces</span>
            <select
              className="input backtest-size"
              value={traces}
              onChange={({ target }) => setTraces(Number(target.value))}
            >
              {sizes.map(size => (
                <option key={size} value={size}>
                  {numberText(size)}
                </option>
              ))}
            </select>
          </label>
          <Button busy={isBusy} onClick={() => void estimate()}>
            Backtest
          </Button>
        </div>
      )}
      <div className="stack editor-news" aria-live="polite">
        {state.step === "estimating" && <p className="quiet">Reading the latest traces…</p>}
        {state.step === "failed" && <BacktestFailure failure={state.failure} onPath={onPath} />}
        {state.step === "estimated" && (
          <Estimate
            estimate={state.estimate}
            outdated={isChanged(state.request.test)}
            onStart={judge => void start(state.request, judge)}
            onCancel={() => setState({ step: "none" })}
          />
        )}
        {blocking && <Blocking backtest={blocking} agentId={agentId} />}
      </div>
      {shown.error && !shown.data && <FailureNotice failure={failureOf(shown.error)} />}
      {shown.data && (
        <BacktestOutcome
          backtest={shown.data}
          agentId={agentId}
          isOutdated={
            tried?.id === shown.data.id
              ? isChanged(tried.document, shown.data.test)
              : stored !== null && stored.id === shown.data.testId && isChanged(shown.data.test)
          }
        />
      )}
    </section>
  );
}

type EstimateProps = {
  estimate: BacktestEstimate;
  /** The test has changed since. */
  outdated: boolean;
  onStart: (judge: boolean) => void;
  onCancel: () => void;
};

function Estimate({ estimate, outdated, onStart, onCancel }: EstimateProps) {
  const { traces, sampled, calls, unavailable } = estimate;
  if (traces === 0) {
    return (
      <>
        <p>This agent has no live traces yet. Send one, then start the backtest.</p>
        <div className="line">
          <Button onClick={onCancel}>Close</Button>
        </div>
      </>
    );
  }
  const isFree = calls === 0 && sampled === traces;
  return (
    <>
      {outdated && <Notice tone="warn">Outdated: the test has changed. Cancel, then try again.</Notice>}
      {unavailable ? (
        <Notice tone="warn">The judge is unavailable. {unavailable.reason}</Notice>
      ) : isFree ? (
        <p>{counted(traces, "trace")}. All answers of the judge are known already, so it costs nothing.</p>
      ) : (
        <p>
          {counted(traces, "trace")}. The judge needs {estimateText(estimate)}{" "}
          {sampled < traces && `Estimated from ${counted(sampled, "trace")}. `}
          Calls stop at the agent’s daily budget.
        </p>
      )}
      <div className="line">
        {!unavailable && !outdated && (
          <Button look="main" onClick={() => onStart(true)}>
            Run with judge
          </Button>
        )}
        {!outdated && <Button onClick={() => onStart(false)}>Run without judge</Button>}
        <Button onClick={onCancel}>Cancel</Button>
      </div>
      {!isFree && !outdated && (
        <p className="quiet small">
          Without the judge, only answers that are known already are used; other traces have no outcome.
        </p>
      )}
    </>
  );
}

/** Another backtest of the agent is running. */
function Blocking({ backtest, agentId }: { backtest: Backtest; agentId: string }) {
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const cancel = async () => {
    setBusy(true);
    const answer = await cancelBacktest(backtest.id);
    setFailure(answer.ok ? undefined : answer.failure);
    await queries.invalidateQueries({ queryKey: backtestsQuery(agentId).queryKey });
    setBusy(false);
  };
  return (
    <Notice tone="info">
      <p>
        A backtest of “{backtest.testName}” is running: {numberText(backtest.tried)} of{" "}
        {numberText(backtest.traces)}. An agent has one at a time.
      </p>
      <div className="line">
        <Button small busy={busy} onClick={() => void cancel()}>
          Cancel it
        </Button>
      </div>
      <FailureNotice failure={failure} />
    </Notice>
  );
}

function BacktestFailure({ failure, onPath }: { failure: Failure; onPath: (path: string) => void }) {
  if (failure.code !== "VALIDATION_ERROR" || !failure.issues) return <FailureNotice failure={failure} />;
  const issues = failure.issues.map(issue => ({ ...issue, path: issue.path.replace(/^test\./, "") }));
  return (
    <Notice tone="bad">
      <p>Fix these first:</p>
      <IssueList issues={issues} onGo={onPath} />
    </Notice>
  );
}
