// The banner above the list that counts traces for which the judge was unavailable, and re-evaluates them.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { numberText } from "../../format.ts";
import { Reevaluate, usePausedReason } from "../../forms/Reevaluate.tsx";
import { useLive } from "../../live.ts";
import { outagesQuery } from "../../queries/judging.ts";
import type { TraceSearch } from "../../queries/trace-search.ts";
import { useRefresh } from "../../refreshing.ts";
import { Notice } from "../../ui/Notice.tsx";
import { RelativeTime } from "../../ui/Time.tsx";

type OutageBannerProps = { projectId: string; agentId: string; search: TraceSearch };

export function OutageBanner({ projectId, agentId, search }: OutageBannerProps) {
  const pausedReason = usePausedReason(projectId);
  const outages = useQuery(outagesQuery(agentId));
  const refresh = useRefresh(() => outages.refetch());
  useLive({ agentId }, event => {
    const isEvaluated = event.type === "run" && (event.state === "completed" || event.state === "error");
    const isDeleted = event.type === "trace" && event.change === "deleted";
    if (isEvaluated || isDeleted || event.type === "refresh") refresh();
  });
  // A failure is not shown, since the list works without the banner.
  if (!outages.data || outages.data.traces === 0) return null;
  const { traces, scheduled, oldest } = outages.data;
  return (
    <div className="outages">
      <Notice tone="info">
        <div className="line line-apart">
          <p>
            <strong>
              The judge was unavailable for {countText(traces)} {traces === 1 ? "trace" : "traces"}
            </strong>
            {scheduled === 0 && oldest !== null && (
              <span className="quiet">
                {" "}
                (oldest: <RelativeTime at={oldest} />)
              </span>
            )}
            .{" "}
            <span className="quiet" role="status">
              {scheduled > 0 && scheduledText(scheduled, traces)}
            </span>{" "}
            {pausedReason !== null && `The judge is still paused. ${pausedReason}`}
          </p>
          <div className="line">
            {search.outage !== "true" && (
              <Link to="." search={{ ...search, outage: "true" }}>
                Show {traces === 1 ? "trace" : "traces"}
              </Link>
            )}
            {scheduled < traces && <Reevaluate projectId={projectId} agentId={agentId} />}
          </div>
        </div>
      </Notice>
    </div>
  );
}

function scheduledText(scheduled: number, traces: number): string {
  if (traces === 1) return "Re-evaluating.";
  return `Re-evaluating ${scheduled === traces ? "all" : numberText(scheduled)}.`;
}

/** The service stops counting here. */
const countedMax = 10_000;

function countText(traces: number): string {
  return traces >= countedMax ? `${numberText(countedMax)} or more` : numberText(traces);
}
