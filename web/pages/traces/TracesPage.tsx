// The list of an agent's traces, live: filters, search, keyboard navigation, and the verdict of each trace.
import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, useLocation, useNavigate } from "@tanstack/react-router";
import { useEffect, useMemo, useRef, useState } from "react";
import { liveStates } from "../../labels.ts";
import type { LiveState } from "../../live-state.ts";
import { bulkMax } from "../../mutations/traces.ts";
import { agentQuery } from "../../queries/agents.ts";
import { removeFromLists } from "../../queries/trace-lists.ts";
import type { TraceSearch } from "../../queries/trace-search.ts";
import {
  type Traces as TraceList,
  useLiveTraces,
  useShownTraces,
  useTraceList,
} from "../../queries/use-trace-list.ts";
import { useShortcut } from "../../shell/shortcuts.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import { Page } from "../../ui/Page.tsx";
import { useSelection } from "../../ui/selection.ts";
import { TracesOrConversations } from "../conversations/TracesOrConversations.tsx";
import { NoJudge, useHasJudge } from "../judge-usage/NoJudge.tsx";
import { BulkActions } from "./BulkActions.tsx";
import type { CellContext } from "./columns.tsx";
import { DisplayPopover } from "./DisplayPopover.tsx";
import { timeStyle } from "./display.ts";
import { slowestOf } from "./duration-share.ts";
import { FilterBar } from "./FilterBar.tsx";
import { ListEnd, OrderNote } from "./ListEnd.tsx";
import { lastFiltersByAgent } from "./last-filters.ts";
import { NoTraces } from "./NoTraces.tsx";
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
    <Page
      title="Traces"
      beside={<TracesOrConversations params={{ projectId, agentId }} shown="traces" />}
      actions={
        list.kind === "live" ? (
          <Live state={live} paused={paused} onPause={setPaused} />
        ) : (
          <Button small icon="refresh" onClick={() => list.restart()}>
            Refresh
          </Button>
        )
      }
    >
      <div className="page-wide stack traces">
        <FilterBar agentId={agentId} search={search} onChange={change} searchBox={searchBox}>
          <ViewsPopover agentId={agentId} search={search} />
          <DisplayPopover />
        </FilterBar>
        <OutageBanner projectId={projectId} agentId={agentId} search={search} />
        <NoJudge projectId={projectId} agentId={agentId} />
        <Traces {...{ projectId, agentId, list, live, search }} onChange={change} />
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
  onChange: (search: TraceSearch) => void;
};

function Traces({ projectId, agentId, list, live, search, onChange }: TracesProps) {
  const shown = useShownTraces(list);
  const queries = useQueryClient();
  const { data: agent } = useSuspenseQuery(agentQuery(agentId));
  const hasJudge = useHasJudge(projectId);
  const entry = useLocation({ select: ({ state }) => state.__TSR_key ?? "" });
  const { rows } = shown;
  const namesDiffer = useMemo(() => rows.some(({ name }) => name !== rows[0]!.name), [rows]);
  const slowestMs = useMemo(() => slowestOf(rows), [rows]);
  const times = timeStyle.use();
  const agentName = agent.name;
  const context = useMemo(
    (): CellContext => ({ projectId, agentId, agentName, hasJudge, namesDiffer, slowestMs, times }),
    [projectId, agentId, agentName, hasJudge, namesDiffer, slowestMs, times],
  );
  const ids = useMemo(() => rows.map(({ id }) => id), [rows]);
  const selection = useSelection(ids, bulkMax);
  if (rows.length > 0) {
    return (
      <div className="traces-list">
        <OrderNote shown={shown} search={search} />
        <TraceTable
          key={entry}
          {...{ list, shown, context, selection }}
          current={lastRowByEntry.get(entry)}
          onCurrent={id => lastRowByEntry.set(entry, id)}
        />
        <ListEnd list={list} shown={shown} search={search} />
        <BulkActions
          params={{ projectId, agentId }}
          chosen={selection.some ? rows.filter(({ id }) => selection.has(id)) : []}
          onDeleted={gone => removeFromLists(queries, agentId, gone)}
          onClear={() => selection.chooseAll(false)}
        />
      </div>
    );
  }
  return <NoTraces {...{ projectId, agentId, list, shown, search, onChange }} isLive={live === "live"} />;
}
