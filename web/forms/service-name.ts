// Sets an agent's service name to the one that its exporters send.

import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Agent } from "../../src/model/agent/agent.ts";
import type { Answer, Failure } from "../api.ts";
import { updateAgent } from "../mutations/agents.ts";
import { agentQuery, agentsQuery } from "../queries/agents.ts";
import { ingestionKey } from "../queries/ingestion.ts";

/** Also refetches the agents and the ingestion log. */
export async function setServiceName(
  queries: QueryClient,
  { id, projectId }: Pick<Agent, "id" | "projectId">,
  otlpServiceName: string,
): Promise<Answer<Agent>> {
  const answer = await updateAgent(id, { otlpServiceName });
  if (answer.ok) {
    queries.setQueryData(agentQuery(id).queryKey, answer.value);
    await queries.invalidateQueries({ queryKey: agentsQuery(projectId).queryKey });
    await queries.invalidateQueries({ queryKey: ingestionKey(projectId) });
  }
  return answer;
}

export const oldNameRejected = "Exporters that still send the old name will be rejected.";

/** The same for a button. */
export function useSetServiceName(agent: Agent, serviceName: string) {
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const set = async () => {
    setBusy(true);
    setFailure(undefined);
    const answer = await setServiceName(queries, agent, serviceName);
    setBusy(false);
    if (!answer.ok) setFailure(answer.failure);
  };
  return { busy, failure, set: () => void set() };
}
