// What became of the requests that were sent while Get started is open, and just before.

import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { IngestionMinute } from "../../../src/http/ingestion/schemas.ts";
import type { ListedTrace } from "../../../src/http/traces/schemas.ts";
import type { Agent } from "../../../src/model/agent/agent.ts";
import type { IngestionCode } from "../../../src/model/ingestion.ts";
import { type LiveEvent, type LiveState, useLive } from "../../live.ts";
import { agentsQuery, lastTraceQuery } from "../../queries/agents.ts";
import { ingestionKey, recentRefusalsQuery } from "../../queries/ingestion.ts";
import { useRefresh } from "../../refreshing.ts";

export type Refused = {
  code: IngestionCode;
  serviceName: string | null;
  keyId: string;
  /** Milliseconds since 1970; of what the log tells, the beginning of the minute. */
  at: number;
};

export type Happenings = {
  live: LiveState;
  /** The agent's latest trace; null: none yet, undefined: not known yet. */
  received: ListedTrace | null | undefined;
  /** Whether there was none when the page was opened. */
  isFirst: boolean;
  /** The latest refusal of the last hour that may concern this agent. */
  refused: Refused | undefined;
  /** Whether a trace came after it. */
  receivedSince: boolean;
};

/** `after`: the latest trace at that time. */
type Noted = Refused & { after: string | null; fromLog: boolean };

export function useHappenings(agent: Agent): Happenings {
  const { id: agentId, projectId } = agent;
  const queries = useQueryClient();
  const { data: agents } = useInfiniteQuery(agentsQuery(projectId));
  const { data: received } = useQuery(lastTraceQuery(agentId));
  const { data: log } = useQuery(recentRefusalsQuery(projectId));
  const [refused, setRefused] = useState<Noted>();
  const [isFirst, setIsFirst] = useState<boolean>();
  const latest = received ? `${received.id} ${received.updatedAt}` : null;

  // What names another agent's service is the matter of that agent.
  const concerns = ({ serviceName }: { serviceName: string | null }) => {
    const named = agents?.find(one => serviceName !== null && one.otlpServiceName === serviceName);
    return named === undefined || named.id === agentId;
  };
  // A busy agent tells of hundreds of traces a second.
  const readTrace = useRefresh(() =>
    queries.invalidateQueries({ queryKey: lastTraceQuery(agentId).queryKey }),
  );
  const live = useLive({ agentId, projectId }, (event: LiveEvent) => {
    if (event.type === "ingestion") {
      const { code, serviceName, keyId } = event;
      if (concerns(event))
        setRefused({ code, serviceName, keyId, at: Date.now(), after: latest, fromLog: false });
      return;
    }
    readTrace();
    if (event.type === "refresh") void queries.invalidateQueries({ queryKey: ingestionKey(projectId) });
  });

  if (received !== undefined && agents && log) {
    if (isFirst === undefined) setIsFirst(received === null);
    const told = log.find(concerns);
    const noted = told && notedOf(told, received, latest);
    if (noted && isNews(noted, refused)) setRefused(noted);
  }
  return {
    live,
    received,
    isFirst: isFirst ?? false,
    refused,
    receivedSince: refused !== undefined && latest !== refused.after,
  };
}

/** Of a batch that was partly refused the first reason explains it. */
function notedOf(told: IngestionMinute, received: ListedTrace | null, latest: string | null): Noted {
  const { code, reasons, serviceName, keyId } = told;
  const at = Date.parse(told.at);
  // Within one minute the log does not tell which came first; a refusal that may be mended by now stands second.
  const isOlder = received !== null && Date.parse(received.receivedAt) >= at;
  return {
    ...{ code: reasons[0]?.code ?? code, serviceName, keyId, at },
    after: isOlder ? null : latest,
    fromLog: true,
  };
}

/** The log is behind the events: it only tells what none of them did. */
function isNews(noted: Noted, shown: Noted | undefined): boolean {
  if (!shown || noted.at > shown.at) return true;
  const isOther =
    noted.code !== shown.code || noted.serviceName !== shown.serviceName || noted.keyId !== shown.keyId;
  return shown.fromLog && noted.at === shown.at && isOther;
}
