// Query for the overview of an agent.
import { queryOptions } from "@tanstack/react-query";
import type { Overview } from "../../src/http/projects/overview-schemas.ts";
import { read } from "../api.ts";

/** Refetched every minute, because its 24 hours move on without events. */
export const overviewQuery = (agentId: string) =>
  queryOptions({
    queryKey: ["agents", agentId, "overview"],
    queryFn: ({ signal }) => read<Overview>(`/api/agents/${agentId}/overview`, signal),
    refetchInterval: 60_000,
  });
