// Query for how long a project keeps its traces.
import { queryOptions } from "@tanstack/react-query";
import type { Retention } from "../../src/http/projects/retention-schemas.ts";
import { read } from "../api.ts";

export const retentionQuery = (projectId: string) =>
  queryOptions({
    queryKey: ["projects", projectId, "retention"],
    queryFn: ({ signal }) => read<Retention>(`/api/projects/${projectId}/retention`, signal),
  });
