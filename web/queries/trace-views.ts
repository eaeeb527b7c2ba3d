// Query for the saved views of an agent's list of traces.
import { queryOptions } from "@tanstack/react-query";
import type { SavedViews } from "../../src/http/traces/view-schemas.ts";
import { read } from "../api.ts";

export const viewsQuery = (agentId: string) =>
  queryOptions({
    queryKey: ["agents", agentId, "trace-views"],
    queryFn: async ({ signal }) =>
      (await read<SavedViews>(`/api/agents/${agentId}/trace-views`, signal)).items,
  });
