// The checks of one result outside the trace page: in the order of the test, expanded, with links to the trace.

import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { TraceOutline } from "../../../../src/http/traces/schemas.ts";
import type { Result } from "../../../../src/model/run/run.ts";
import { runLabelsQuery } from "../../../queries/labels.ts";
import { CheckItem } from "./CheckItem.tsx";
import { type Shared, TraceContext } from "./context.ts";
import "../../../styles/evaluation.css";

type CheckListProps = {
  result: Result;
  /** One per turn, and at least one. */
  traces: readonly TraceOutline[];
  params: { projectId: string; agentId: string };
  /** The run whose checks can be labeled; absent where none can be. */
  runId?: string | undefined;
};

export function CheckList({ result, traces, params: { projectId, agentId }, runId }: CheckListProps) {
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const { data: labels } = useQuery({ ...runLabelsQuery(runId ?? ""), enabled: runId !== undefined });
  const shared = useMemo((): Shared => {
    const places = traces.map(trace => ({
      trace,
      spanNames: new Map(trace.spans.map(({ spanId, name }) => [spanId, name])),
    }));
    return {
      ...places.at(-1)!,
      ofTurn: turn => places[turn - 1],
      selected: undefined,
      onSelect: undefined,
      onShow: () => {},
      labeling: runId !== undefined && labels ? { runId, labels: labels.items } : undefined,
      params: { projectId, agentId },
    };
  }, [traces, projectId, agentId, runId, labels]);
  const fold = (id: string, open: boolean) => {
    const others = [...folded].filter(one => one !== id);
    setFolded(new Set(open ? others : [...others, id]));
  };
  return (
    <TraceContext value={shared}>
      <div className="evaluation">
        <ul className="checks" aria-label="Checks">
          {result.checks.map(check => (
            <CheckItem
              key={check.id}
              check={check}
              result={result}
              open={!folded.has(check.id)}
              onFold={open => fold(check.id, open)}
            />
          ))}
        </ul>
      </div>
    </TraceContext>
  );
}
