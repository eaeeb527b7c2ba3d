// What the list of traces shows instead of rows: why none match, that there are none yet, or the error.
import { Link } from "@tanstack/react-router";
import { failureOf } from "../../api.ts";
import type { TraceSearch } from "../../queries/trace-search.ts";
import type { ShownTraces, Traces } from "../../queries/use-trace-list.ts";
import { Button } from "../../ui/Button.tsx";
import { EmptyState, ErrorState, Skeleton } from "../../ui/State.tsx";
import { emptyRanges, invalidText, isFiltered, without } from "./filters.ts";
import { OrderNote, SearchFurther } from "./ListEnd.tsx";

type NoTracesProps = {
  projectId: string;
  agentId: string;
  list: Traces;
  shown: ShownTraces;
  search: TraceSearch;
  isLive: boolean;
  onChange: (search: TraceSearch) => void;
};

export function NoTraces({ projectId, agentId, list, shown, search, isLive, onChange }: NoTracesProps) {
  const { nextCursor, failure } = shown;
  if (failure) {
    const { code, issues = [] } = failureOf(failure);
    if (code !== "VALIDATION_ERROR" || !isInvalid(search)) {
      return <ErrorState failure={failureOf(failure)} onRetry={() => list.retry()} />;
    }
    return <Invalid faults={issues.map(issue => invalidText(search, issue))} onClear={() => onChange({})} />;
  }
  const faults = emptyRanges(search);
  if (faults.length > 0) return <Invalid faults={faults} onClear={() => onChange(without(search))} />;
  if (nextCursor === "") return <Skeleton lines={12} />;
  if (nextCursor !== null) {
    return (
      <EmptyState icon="search" title="No matches so far">
        <SearchFurther {...{ list, shown, search }} />
        <OrderNote shown={shown} search={search} />
        <Button onClick={() => onChange(without(search))}>Clear filters</Button>
      </EmptyState>
    );
  }
  if (isFiltered(search)) {
    return (
      <EmptyState icon="search" title="No matching traces">
        {list.kind === "live" && <p className="quiet">New matching traces appear here automatically.</p>}
        {list.kind === "searched" && <SearchFurther {...{ list, shown, search }} />}
        <OrderNote shown={shown} search={search} />
        <Button onClick={() => onChange(without(search))}>Clear filters</Button>
      </EmptyState>
    );
  }
  if (search.kind) return <EmptyKind kind={search.kind} params={{ projectId, agentId }} />;
  return (
    <EmptyState icon="log" title="No traces yet">
      <p className="quiet">
        {isLive
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

function Invalid({ faults, onClear }: { faults: string[]; onClear: () => void }) {
  return (
    <EmptyState icon="warning" title="Invalid filter in the URL">
      <ul className="quiet break">
        {faults.map(fault => (
          <li key={fault}>{fault}</li>
        ))}
      </ul>
      <Button onClick={onClear}>Clear filters</Button>
    </EmptyState>
  );
}

/** Whether the URL may be the reason for a rejected request. */
function isInvalid(search: TraceSearch): boolean {
  return Object.values(search).some(Boolean);
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
