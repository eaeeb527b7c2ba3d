// A backtest: its state and progress, the groups of results as filters, and the traces of one group.
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import type { BacktestDetail, BacktestResult } from "../../../src/http/test-cases/backtest-schemas.ts";
import type { Failure } from "../../api.ts";
import { numberText } from "../../format.ts";
import { backtestCauses, backtestStates, checkTypes, outcomes, outcomeWord } from "../../labels.ts";
import { costText } from "../../money.ts";
import { cancelBacktest, deleteBacktest } from "../../mutations/backtests.ts";
import { backtestQuery, backtestResultsQuery, backtestsQuery } from "../../queries/backtests.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import { Dialog } from "../../ui/Dialog.tsx";
import { FailureNotice, Notice } from "../../ui/Notice.tsx";
import { Loaded, MorePages } from "../../ui/State.tsx";
import { RelativeTime } from "../../ui/Time.tsx";
import { TraceText } from "../../ui/TraceText.tsx";
import { groupsOf, type ShownGroup, summaryText } from "./backtest-groups.ts";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/tests/$testId");
const editorRoute = "/projects/$projectId/agents/$agentId/tests/$testId";

type OutcomeProps = { backtest: BacktestDetail; agentId: string; isOutdated: boolean };

export function BacktestOutcome({ backtest, agentId, isOutdated }: OutcomeProps) {
  const { group: requested } = route.useSearch();
  const { state, tried, traces, groups, error } = backtest;
  const shown = groupsOf(groups, outcomes);
  const chosen = shown.find(({ key }) => key === requested) ?? shown[0];
  return (
    <div className="stack">
      <Head backtest={backtest} agentId={agentId} />
      {state === "running" && (
        <progress
          className="backtest-progress"
          aria-label="Traces tried"
          value={tried}
          max={Math.max(traces, 1)}
          aria-valuetext={`${tried} of ${traces}`}
        />
      )}
      {isOutdated && <Notice tone="warn">Outdated: the test has changed. Run the backtest again.</Notice>}
      {state === "interrupted" && (
        <Notice tone="warn">
          The service stopped before the backtest finished. The results so far are shown; run it again for the
          rest.
        </Notice>
      )}
      {error !== null && <Notice tone="bad">{error}</Notice>}
      {tried > 0 && <p>{summaryText(groups)}</p>}
      {chosen && (
        <>
          <Groups groups={shown} chosen={chosen} />
          <Results backtest={backtest} group={chosen} />
        </>
      )}
    </div>
  );
}

function Head({ backtest, agentId }: { backtest: BacktestDetail; agentId: string }) {
  const { id, state, tried, traces, testVersion, createdAt, usage, judged, test } = backtest;
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const [deleting, setDeleting] = useState(false);
  const cost = usage.calls > 0 ? (costText({ ...usage }) ?? "price unknown") : undefined;
  async function cancel(): Promise<void> {
    setBusy(true);
    setFailure(undefined);
    const answer = await cancelBacktest(id);
    setBusy(false);
    if (!answer.ok) return setFailure(answer.failure);
    await queries.invalidateQueries({ queryKey: backtestQuery(id).queryKey });
    await queries.invalidateQueries({ queryKey: backtestsQuery(agentId).queryKey });
  }
  return (
    <>
      <div className="line line-apart">
        <span className="line">
          <span role="status">
            <Badge word={backtestStates[state]} />
          </span>
          <span className="figures">
            {tried === traces ? numberText(traces) : `${numberText(tried)} of ${numberText(traces)}`}{" "}
            {traces === 1 ? "trace" : "traces"}
          </span>
        </span>
        {/* Cancel turns into Delete when the backtest ends, perhaps under a click: so Delete asks first. */}
        <Button small busy={busy} onClick={() => (state === "running" ? void cancel() : setDeleting(true))}>
          {state === "running" ? "Cancel" : "Delete"}
          <span className="unseen"> backtest</span>
        </Button>
      </div>
      <p className="quiet small">
        {testVersion === null ? "Draft" : `Version ${numberText(testVersion)}`},{" "}
        <RelativeTime at={createdAt} />
        {cost === undefined
          ? !judged && asksJudge(test) && ", judge not called"
          : `, ${numberText(usage.calls)} judge ${usage.calls === 1 ? "call" : "calls"}, ${cost}`}
      </p>
      <FailureNotice failure={failure} />
      {deleting && <DeleteBacktest id={id} agentId={agentId} onClose={() => setDeleting(false)} />}
    </>
  );
}

type DeleteBacktestProps = { id: string; agentId: string; onClose: () => void };

function DeleteBacktest({ id, agentId, onClose }: DeleteBacktestProps) {
  const queries = useQueryClient();
  const navigate = useNavigate({ from: editorRoute });
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const remove = async () => {
    setBusy(true);
    setFailure(undefined);
    const answer = await deleteBacktest(id);
    setBusy(false);
    if (!answer.ok) return setFailure(answer.failure);
    onClose();
    await navigate({ search: was => ({ ...was, backtest: undefined, group: undefined }), replace: true });
    queries.removeQueries({ queryKey: backtestQuery(id).queryKey });
    await queries.invalidateQueries({ queryKey: backtestsQuery(agentId).queryKey });
  };
  return (
    <Dialog
      title="Delete backtest"
      about="Also deletes its results. This cannot be undone."
      alert
      onClose={onClose}
    >
      <FailureNotice failure={failure} />
      <div className="line line-end">
        <Button onClick={onClose}>Cancel</Button>
        <Button look="danger" busy={busy} onClick={() => void remove()}>
          Delete backtest
        </Button>
      </div>
    </Dialog>
  );
}

function asksJudge({ passiveBehavior, assertions }: BacktestDetail["test"]): boolean {
  return passiveBehavior === "run_when_relevant" || assertions.some(({ type }) => type === "semantic");
}

function Groups({ groups, chosen }: { groups: ShownGroup[]; chosen: ShownGroup }) {
  return (
    <nav className="line" aria-label="Filter traces by verdict">
      {groups.map(({ key, text, traces }) => (
        <Link
          key={key}
          from={editorRoute}
          to="."
          search={was => ({ ...was, group: key })}
          replace
          resetScroll={false}
          className="button button-small tried-filter"
          activeOptions={{ exact: true, explicitUndefined: true }}
          aria-current={key === chosen.key ? "page" : undefined}
        >
          {text} <span className="quiet">{numberText(traces)}</span>
        </Link>
      ))}
    </nav>
  );
}

function Results({ backtest: { id, tried }, group }: { backtest: BacktestDetail; group: ShownGroup }) {
  const queries = useQueryClient();
  const query = backtestResultsQuery(id, group);
  const results = useInfiniteQuery(query);
  // While it runs, each poll that finds more tried traces reads the shown pages again.
  const [read, setRead] = useState(tried);
  useEffect(() => {
    if (read === tried) return;
    setRead(tried);
    void queries.invalidateQueries({ queryKey: ["backtests", id, "results"] });
  }, [queries, id, read, tried]);
  return (
    <Loaded query={results}>
      {items => (
        <div className="tried">
          <ul className="stack-tight backtest-results" aria-label={`Traces: ${group.text}`}>
            {items.map(result => (
              <ResultItem key={result.traceId} result={result} />
            ))}
          </ul>
          <MorePages query={results} />
        </div>
      )}
    </Loaded>
  );
}

function ResultItem({ result }: { result: BacktestResult }) {
  const { projectId, agentId } = route.useParams();
  const { traceId, receivedAt, userInput, before, beforeVersion, after, change, cause } = result;
  const { reason, checkType } = result;
  const type =
    checkType !== null &&
    Object.hasOwn(checkTypes, checkType) &&
    checkTypes[checkType as keyof typeof checkTypes];
  return (
    <li className="tried-input backtest-result">
      <div className="line line-apart">
        <span className="line">
          {before && change !== "same" && (
            <>
              <Badge word={outcomes[before]} />
              <span aria-hidden="true">→</span>
              <span className="unseen">now</span>
            </>
          )}
          {after ? (
            <Badge word={outcomeWord(after, change !== "none")} />
          ) : (
            <span className="quiet">No outcome</span>
          )}
        </span>
        <Link
          to="/projects/$projectId/agents/$agentId/traces/$traceId"
          params={{ projectId, agentId, traceId }}
          className="small"
          aria-label={`Trace of “${(userInput ?? "No user input").slice(0, 60)}”`}
        >
          Trace
        </Link>
      </div>
      <p className="editor-words">
        {userInput === null ? <span className="quiet">No user input</span> : <TraceText text={userInput} />}
      </p>
      <p className="quiet small break">
        {type && `${type}: `}
        <TraceText text={reason} />
      </p>
      {cause !== null && <p className="small">{backtestCauses[cause]}</p>}
      <p className="quiet small">
        Received <RelativeTime at={receivedAt} />
        {beforeVersion !== null && `, compared with version ${numberText(beforeVersion)}`}
      </p>
    </li>
  );
}
