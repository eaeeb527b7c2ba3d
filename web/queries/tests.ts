// Queries for an agent's test cases.

import { queryOptions } from "@tanstack/react-query";
import type { ListedTest } from "../../src/http/test-cases/schemas.ts";
import { read } from "../api.ts";
import { pagesOf } from "./pages.ts";

export const testsQuery = (agentId: string) =>
  pagesOf<ListedTest>(["agents", agentId, "tests"], `/api/agents/${agentId}/tests`, 200);

export const testQuery = (id: string) =>
  queryOptions({
    queryKey: ["tests", id],
    queryFn: ({ signal }) => read<ListedTest>(`/api/tests/${id}`, signal),
  });
