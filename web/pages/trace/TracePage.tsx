// The page of one trace: conversation, span tree and evaluation, linked to each other.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { failureOf } from "../../api.ts";
import { useLive } from "../../live.ts";
import { outlineQuery } from "../../queries/traces.ts";
import { useRefresh } from "../../refreshing.ts";
import { NotFound } from "../../shell/NotFound.tsx";
import { EmptyState, Loaded } from "../../ui/State.tsx";
import { Title } from "../../ui/Title.tsx";
import { RedactingRules } from "../../ui/TraceText.tsx";
import { BackToTraces } from "./BackToTraces.tsx";
import { TraceHeader } from "./TraceHeader.tsx";
import { TraceNotices } from "./TraceNotices.tsx";
import { TracePanes } from "./TracePanes.tsx";
import "../../styles/trace.css";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/traces/$traceId");

export function TracePage() {
  const { agentId, traceId } = route.useParams();
  const outline = useQuery(outlineQuery(traceId));
  useLiveTrace(
    agentId,
    traceId,
    outline.data && `${outline.data.revision} ${outline.data.contentForgottenAt}`,
  );
  if (outline.error && failureOf(outline.error).code === "NOT_FOUND") {
    return outline.data ? <Deleted /> : <NotFound />;
  }
  if (outline.data && outline.data.agentId !== agentId) return <NotFound />;
  return (
    <div className="page-wide trace" key={traceId}>
      <Title text={outline.data?.name || "Trace"} />
      <Loaded query={outline}>
        {trace => (
          <RedactingRules value={Object.keys(trace.redactions)}>
            <TraceHeader trace={trace} />
            <TraceNotices trace={trace} />
            <TracePanes trace={trace} />
          </RedactingRules>
        )}
      </Loaded>
    </div>
  );
}

function Deleted() {
  return (
    <>
      <Title text="Deleted trace" />
      <EmptyState icon="trash" title="This trace was deleted" whole>
        <p className="quiet">Its spans and results were deleted with it.</p>
        <BackToTraces className="button">Back to traces</BackToTraces>
      </EmptyState>
    </>
  );
}

/** Reloads the outline when the trace or its evaluation changes; spans and messages only in another version of it. */
function useLiveTrace(agentId: string, traceId: string, version: string | undefined): void {
  const queries = useQueryClient();
  const refresh = useRefresh(() =>
    queries.invalidateQueries({ queryKey: outlineQuery(traceId).queryKey, exact: true }),
  );
  useLive({ agentId }, event => {
    const concerns = event.type === "refresh" || ("traceId" in event && event.traceId === traceId);
    if (concerns) refresh();
  });
  const shown = useRef(version);
  useEffect(() => {
    if (shown.current !== undefined && shown.current !== version) {
      const [all, id, outline] = outlineQuery(traceId).queryKey;
      void queries.invalidateQueries({
        queryKey: [all, id],
        predicate: part => part.queryKey[2] !== outline,
      });
    }
    shown.current = version;
  }, [queries, traceId, version]);
}
