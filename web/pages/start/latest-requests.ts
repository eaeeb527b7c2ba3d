// The agent's latest trace, and the latest rejected request that concerns it, live.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { LastRejection } from "../../../src/http/ingestion/schemas.ts";
import type { ListedTrace } from "../../../src/http/traces/schemas.ts";
import type { Agent } from "../../../src/model/agent/agent.ts";
import { useLive } from "../../live.ts";
import type { LiveState } from "../../live-state.ts";
import { lastTracesQuery } from "../../queries/agents.ts";
import { lastRejectionQuery } from "../../queries/ingestion.ts";
import { useRefresh } from "../../refreshing.ts";

export type LatestRequests = {
  live: LiveState;
  /** The agent's latest trace; null: none yet, undefined: loading. */
  received: ListedTrace | null | undefined;
  /** Whether it is the only trace of an agent that had none when the page was opened. */
  isFirst: boolean;
  /** The latest rejected request that concerns this agent. */
  rejected: LastRejection | undefined;
  /** Whether a trace was stored after it. */
  receivedSince: boolean;
};

export function useLatestRequests({ id: agentId, projectId }: Agent): LatestRequests {
  const queries = useQueryClient();
  const { data: traces } = useQuery(lastTracesQuery(agentId));
  const { data: rejected } = useQuery(lastRejectionQuery(agentId));
  const [hadNone, setHadNone] = useState<boolean>();
  // A busy agent sends hundreds of events per second.
  const readTrace = useRefresh(() =>
    queries.invalidateQueries({ queryKey: lastTracesQuery(agentId).queryKey }),
  );
  const readRejection = useRefresh(() =>
    queries.invalidateQueries({ queryKey: lastRejectionQuery(agentId).queryKey }),
  );
  const live = useLive({ agentId, projectId }, ({ type }) => {
    if (type === "ingestion" || type === "refresh") readRejection();
    if (type !== "ingestion") readTrace();
  });
  if (traces && hadNone === undefined) setHadNone(traces.length === 0);
  const received = traces && (traces[0] ?? null);
  return {
    live,
    received,
    isFirst: hadNone === true && traces?.length === 1,
    rejected: rejected ?? undefined,
    receivedSince: Boolean(received && rejected && Date.parse(received.updatedAt) > Date.parse(rejected.at)),
  };
}
