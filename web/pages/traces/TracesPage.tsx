// The list of an agent's traces, live: filters, search, keyboard navigation, and the verdict of each trace.
import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useLocation, useNavigate } from "@tanstack/react-router";
import { useEffect, useMemo, useRef, useState } from "react";
import { failureOf } from "../../api.ts";
import { counted, liveStates } from "../../labels.ts";
import type { LiveState } from "../../live.ts";
import { agentQuery } from "../../queries/agents.ts";
import type { TraceSearch } from "../../queries/trace-search.ts";
import {
  type ShownTraces,
  type Traces as TraceList,
  useLiveTraces,
  useShownTraces,
  useTraceList,
} from "../../queries/use-trace-list.ts";
import { useShortcut } from "../../shell/shortcuts.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import { FailureNotice } from "../../ui/Notice.tsx";
import { Page } from "../../ui/Page.tsx";
import { EmptyState, ErrorState, Skeleton } from "../../ui/State.tsx";
import { NoJudge, useHasJudge } from "../judge-usage/NoJudge.tsx";
import type { CellContext } from "./columns.tsx";
import { DisplayPopover } from "./DisplayPopover.tsx";
import { timeStyle } from "./display.ts";
import { slowestOf } from "./duration-share.ts";
import { FilterBar } from "./FilterBar.tsx";
import { isFiltered, without } from "./filters.ts";
import { lastFiltersByAgent } from "./last-filters.ts";
import { OutageBanner } from "./OutageBanner.tsx";
import { TraceTable } from "./TraceTable.tsx";
import { ViewsPopover } from "./Views.tsx";
import "../../styles/traces.css";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/traces");

/** The last focused row of each entry in the browser's history. */
const lastRowByEntry = new Map<string, string>();

export function TracesPage() {
  const { projectId, agentId } = route.useParams();
  const search = route.useSearch();
  const navigate = useNavigate();
  const [paused, setPaused] = useState(false);
  const list = useTraceList(agentId, search);
  useEffect(() => void lastFiltersByAgent.set(agentId, search), [agentId, search]);
  const live = useLiveTraces(list, agentId, paused);
  const searchBox = useRef<HTMLInputElement>(null);
  useShortcut("/", "Search traces", () => searchBox.current?.focus());
  const change = (next: TraceSearch, how?: "replace") =>
    void navigate({ to: ".", search: next, replace: how === "replace" });
  return (
    <Page title="Traces" actions={<Live state={live} paused={paused} onPause={setPaused} />}>
      <div className="page-wide stack traces">
        <FilterBar agentId={agentId} search={search} onChange={change} searchBox={searchBox}>
          <ViewsPopover agentId={agentId} search={search} />
          <DisplayPopover />
        </FilterBar>
        <OutageBanner projectId={projectId} agentId={agentId} search={search} />
        <NoJudge projectId={projectId} agentId={agentId} />
        <Traces {...{ projectId, agentId, list, live, search }} onClear={() => change(without(search))} />
      </div>
    </Page>
  );
}

type LiveProps = { state: LiveState | "paused"; paused: boolean; onPause: (paused: boolean) => void };

function Live({ state, paused, onPause }: LiveProps) {
  return (
    <>
      <span role="status">
        <Badge word={liveStates[state]} />
      </span>
      <Button small icon={paused ? "play" : "pause"} onClick={() => onPause(!paused)}>
        {paused ? "Resume" : "Pause"}
      </Button>
    </>
  );
}

type TracesProps = {
  projectId: string;
  agentId: string;
  list: TraceList;
  live: LiveState | "paused";
  search: TraceSearch;
  onClear: () => void;
};

function Traces({ projectId, agentId, list, live, search, onClear }: TracesProps) {
  const shown = useShownTraces(list);
  const { data: agent } = useSuspenseQuery(agentQuery(agentId));
  const hasJudge = useHasJudge(projectId);
  const entry = useLocation({ select: ({ state }) => state.__TSR_key ?? "" });
  const { rows, nextCursor, failure } = shown;
  const namesDiffer = useMemo(() => rows.some(({ name }) => name !== rows[0]!.name), [rows]);
  const slowestMs = useMemo(() => slowestOf(rows), [rows]);
  const times = timeStyle.use();
  const agentName = agent.name;
  const context = useMemo(
    (): CellContext => ({ projectId, agentId, agentName, hasJudge, namesDiffer, slowestMs, times }),
    [projectId, agentId, agentName, hasJudge, namesDiffer, slowestMs, times],
  );
  if (rows.length > 0) {
    return (
      <div className="traces-list">
        <TraceTable
          key={entry}
          {...{ list, shown, context }}
          current={lastRowByEntry.get(entry)}
          onCurrent={id => lastRowByEntry.set(entry, id)}
        />
        <ListEnd list={list} shown={shown} />
      </div>
    );
  }
  if (failure) {
    const { code, issues = [] } = failureOf(failure);
    if (code !== "VALIDATION_ERROR" || !isFiltered(search)) {
      return <ErrorState failure={failureOf(failure)} onRetry={() => list.retry()} />;
    }
    return (
      <EmptyState icon="warning" title="Invalid filter in the URL">
        <ul className="quiet break">
          {issues.map(({ path, message }) => (
            <li key={path}>
              <code>{path}</code>: {message}
            </li>
          ))}
        </ul>
        <Button onClick={onClear}>Clear filters</Button>
      </EmptyState>
    );
  }
  if (nextCursor !== null) return <Searching shown={shown} onClear={onClear} />;
  if (isFiltered(search)) {
    return (
      <EmptyState icon="search" title="No matching traces">
        <p className="quiet">New matching traces appear here automatically.</p>
        <Button onClick={onClear}>Clear filters</Button>
      </EmptyState>
    );
  }
  if (search.kind) return <EmptyKind kind={search.kind} params={{ projectId, agentId }} />;
  return (
    <EmptyState icon="log" title="No traces yet">
      <p className="quiet">
        {live === "live"
          ? "Listening. The first trace appears here automatically."
          : "The first trace will appear here."}
      </p>
      <Link
        to="/projects/$projectId/agents/$agentId/start"
        params={{ projectId, agentId }}
        className="button"
        data-look="main"
      >
        Get started
      </Link>
    </EmptyState>
  );
}

type EmptyKindProps = { kind: string; params: { projectId: string; agentId: string } };

function EmptyKind({ kind, params }: EmptyKindProps) {
  const all = (
    <Link to="." search={{}} className="button">
      Show all traces
    </Link>
  );
  if (kind !== "test_run") {
    return (
      <EmptyState icon="log" title="No live traffic yet">
        <p className="quiet">Traces that your agent sends appear here.</p>
        {all}
      </EmptyState>
    );
  }
  return (
    <EmptyState icon="play" title="No test runs yet">
      <p className="quiet">
        Run test cases to send their inputs to the agent. The traces appear here, separate from live traffic.
      </p>
      <div className="line">
        <Link
          to="/projects/$projectId/agents/$agentId/runs"
          params={params}
          className="button"
          data-look="main"
        >
          Go to runs
        </Link>
        {all}
      </div>
    </EmptyState>
  );
}

/** Shows that the search goes on while nothing has matched so far. */
function Searching({ shown, onClear }: { shown: ShownTraces; onClear: () => void }) {
  if (shown.nextCursor === "") return <Skeleton lines={12} />;
  return (
    <EmptyState icon="search" title="No matches so far">
      <p className="quiet" role="status">
        {searchingText}
      </p>
      <Button onClick={onClear}>Clear filters</Button>
    </EmptyState>
  );
}

const searchingText = "Searching older traces…";

function ListEnd({ list, shown: { rows, nextCursor, failure } }: { list: TraceList; shown: ShownTraces }) {
  if (failure) {
    return (
      <div className="stack">
        <FailureNotice failure={failureOf(failure)} />
        <div className="line line-center">
          <Button onClick={() => list.retry()}>Retry</Button>
        </div>
      </div>
    );
  }
  return (
    <p className="traces-end quiet small" role="status">
      {nextCursor === null ? counted(rows.length, "trace") : searchingText}
    </p>
  );
}
