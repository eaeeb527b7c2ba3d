// Query for the judge that is set in the service's environment.

import { queryOptions } from "@tanstack/react-query";
import type { EnvironmentJudge } from "../../src/http/judge/schemas.ts";
import { read } from "../api.ts";

export const judgeQuery = queryOptions({
  queryKey: ["judge"],
  queryFn: ({ signal }) => read<EnvironmentJudge>("/api/judge", signal),
  staleTime: 60_000,
});
