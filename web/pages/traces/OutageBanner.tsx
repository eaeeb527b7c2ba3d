// Above the traces: of how many an outage of the judge skipped something, with the way to them and a further try.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { numberText } from "../../format.ts";
import { JudgeAgain, usePausedReason } from "../../forms/JudgeAgain.tsx";
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
    const isOver = event.type === "run" && (event.state === "completed" || event.state === "error");
    const isGone = event.type === "trace" && event.change === "deleted";
    if (isOver || isGone || event.type === "refresh") refresh();
  });
  // Without it the list is as useful as ever, so a failure is not shown.
  if (!outages.data || outages.data.traces === 0) return null;
  const { traces, scheduled, oldest } = outages.data;
  return (
    <div className="outages">
      <Notice tone="info">
        <div className="line line-apart">
          <p>
            <strong>
              An outage of the judge left {countText(traces)} {traces === 1 ? "trace" : "traces"} partly
              unjudged.
            </strong>{" "}
            <span className="quiet" role="status">
              {scheduled > 0 && againText(scheduled, traces)}
            </span>
            {scheduled === 0 && oldest !== null && (
              <span className="quiet">
                The oldest came <RelativeTime at={oldest} />.
              </span>
            )}{" "}
            {pausedReason !== null && `The judge is still paused. ${pausedReason}`}
          </p>
          <div className="line">
            {search.outage !== "true" && (
              <Link to="." search={{ ...search, outage: "true" }}>
                Show {traces === 1 ? "it" : "them"}
              </Link>
            )}
            {scheduled < traces && <JudgeAgain projectId={projectId} agentId={agentId} />}
          </div>
        </div>
      </Notice>
    </div>
  );
}

function againText(scheduled: number, traces: number): string {
  if (traces === 1) return "It is being judged again.";
  if (scheduled === traces) return "All of them are being judged again.";
  return `${numberText(scheduled)} of them ${scheduled === 1 ? "is" : "are"} being judged again.`;
}

/** The service counts no further. */
const countedMax = 10_000;

function countText(traces: number): string {
  return traces >= countedMax ? `${numberText(countedMax)} or more` : numberText(traces);
}
