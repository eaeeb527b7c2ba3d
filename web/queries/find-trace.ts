// Finds a trace by its id in any project of the account, or by its external id in one agent.
import { queryOptions } from "@tanstack/react-query";
import type { Page } from "../../src/http/frame/schemas.ts";
import type { ListedTrace, TraceOutline } from "../../src/http/traces/schemas.ts";
import type { Agent } from "../../src/model/agent/agent.ts";
import { Failed, read } from "../api.ts";

export type FoundTrace = { id: string; agentId: string; projectId: string; title: string };

const titleMax = 100;

/** `agentId`: of the agent whose external ids are searched. Null: there is no such trace. */
export const findTraceQuery = (
  id: string | undefined,
  externalId: string | undefined,
  agentId: string | undefined,
) =>
  queryOptions({
    queryKey: ["find-trace", id, externalId, agentId],
    enabled: id !== undefined || (externalId !== undefined && agentId !== undefined),
    queryFn: async ({ signal }): Promise<FoundTrace | null> => {
      const trace =
        (id && (await orNull(read<TraceOutline>(`/api/traces/${id}/outline`, signal)))) ||
        (externalId && agentId && (await byExternalId(agentId, externalId, signal))) ||
        null;
      if (!trace) return null;
      const { projectId } = await read<Agent>(`/api/agents/${trace.agentId}`, signal);
      const title = trace.userInput?.slice(0, titleMax).trim() || trace.name;
      return { id: trace.id, agentId: trace.agentId, projectId, title };
    },
  });

async function byExternalId(agentId: string, externalId: string, signal: AbortSignal) {
  const query = new URLSearchParams({ externalId, limit: "1" });
  const { items } = await read<Page<ListedTrace>>(`/api/agents/${agentId}/traces?${query}`, signal);
  return items[0];
}

async function orNull<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Failed && error.failure.code === "NOT_FOUND") return null;
    throw error;
  }
}
