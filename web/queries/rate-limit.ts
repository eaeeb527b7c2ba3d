// Query for how many requests a minute a project may send.
import { queryOptions } from "@tanstack/react-query";
import type { RateLimit } from "../../src/http/projects/schemas.ts";
import { read } from "../api.ts";

export const rateLimitQuery = (projectId: string) =>
  queryOptions({
    queryKey: ["projects", projectId, "rate-limit"],
    queryFn: ({ signal }) => read<RateLimit>(`/api/projects/${projectId}/rate-limit`, signal),
  });
