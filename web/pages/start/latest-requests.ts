// The agent's latest trace, and the latest rejected request that may concern it, live.
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { IngestionMinute } from "../../../src/http/ingestion/schemas.ts";
import type { ListedTrace } from "../../../src/http/traces/schemas.ts";
import type { Agent } from "../../../src/model/agent/agent.ts";
import type { IngestionCode } from "../../../src/model/ingestion.ts";
import { type LiveEvent, type LiveState, useLive } from "../../live.ts";
import { agentsQuery, lastTraceQuery } from "../../queries/agents.ts";
import { ingestionKey, recentRejectionsQuery } from "../../queries/ingestion.ts";
import { useRefresh } from "../../refreshing.ts";

export type Rejected = {
  code: IngestionCode;
  serviceName: string | null;
  keyId: string;
  /** Milliseconds since 1970; from the log, the start of the minute. */
  at: number;
};

export type LatestRequests = {
  live: LiveState;
  /** The agent's latest trace; null: none yet, undefined: loading. */
  received: ListedTrace | null | undefined;
  /** Whether the agent had no trace when the page was opened. */
  isFirst: boolean;
  /** The latest rejected request of the last hour that may concern this agent. */
  rejected: Rejected | undefined;
  /** Whether a trace was stored after it. */
  receivedSince: boolean;
};

/** `after`: the latest trace at that time. */
type Entry = Rejected & { after: string | null; fromLog: boolean };

export function useLatestRequests(agent: Agent): LatestRequests {
  const { id: agentId, projectId } = agent;
  const queries = useQueryClient();
  const { data: agents } = useInfiniteQuery(agentsQuery(projectId));
  const { data: received } = useQuery(lastTraceQuery(agentId));
  const { data: log } = useQuery(recentRejectionsQuery(projectId));
  const [rejected, setRejected] = useState<Entry>();
  const [isFirst, setIsFirst] = useState<boolean>();
  const latest = received ? `${received.id} ${received.updatedAt}` : null;

  // A request with another agent's service name concerns that agent.
  const concerns = ({ serviceName }: { serviceName: string | null }) => {
    const owner = agents?.find(one => serviceName !== null && one.otlpServiceName === serviceName);
    return owner === undefined || owner.id === agentId;
  };
  // A busy agent sends hundreds of events per second.
  const readTrace = useRefresh(() =>
    queries.invalidateQueries({ queryKey: lastTraceQuery(agentId).queryKey }),
  );
  const live = useLive({ agentId, projectId }, (event: LiveEvent) => {
    if (event.type === "ingestion") {
      const { code, serviceName, keyId } = event;
      if (concerns(event))
        setRejected({ code, serviceName, keyId, at: Date.now(), after: latest, fromLog: false });
      return;
    }
    readTrace();
    if (event.type === "refresh") void queries.invalidateQueries({ queryKey: ingestionKey(projectId) });
  });

  if (received !== undefined && agents && log) {
    if (isFirst === undefined) setIsFirst(received === null);
    const minute = log.find(concerns);
    const entry = minute && entryOf(minute, received, latest);
    if (entry && isNewer(entry, rejected)) setRejected(entry);
  }
  return {
    live,
    received,
    isFirst: isFirst ?? false,
    rejected,
    receivedSince: rejected !== undefined && latest !== rejected.after,
  };
}

/** A partly rejected batch is explained by its first reason. */
function entryOf(minute: IngestionMinute, received: ListedTrace | null, latest: string | null): Entry {
  const { code, reasons, serviceName, keyId } = minute;
  const at = Date.parse(minute.at);
  // The log does not order requests within a minute. The trace is taken as the later one: the fault may be fixed by now.
  const isOlder = received !== null && Date.parse(received.receivedAt) >= at;
  return {
    ...{ code: reasons[0]?.code ?? code, serviceName, keyId, at },
    after: isOlder ? null : latest,
    fromLog: true,
  };
}

/** The log lags behind the events, so it never replaces a later rejection that came as an event. */
function isNewer(entry: Entry, shown: Entry | undefined): boolean {
  if (!shown || entry.at > shown.at) return true;
  const isOther =
    entry.code !== shown.code || entry.serviceName !== shown.serviceName || entry.keyId !== shown.keyId;
  return shown.fromLog && entry.at === shown.at && isOther;
}
