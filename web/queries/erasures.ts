// Queries for the erasures of a project, and for one of them while it works.
import { queryOptions } from "@tanstack/react-query";
import type { Erasure, ErasureDetail } from "../../src/http/projects/erasure-schemas.ts";
import { read } from "../api.ts";
import { pagesOf } from "./pages.ts";

const runningPollMs = 1_000;

export const erasuresQuery = (projectId: string) =>
  pagesOf<Erasure>(["projects", projectId, "erasures"], `/api/projects/${projectId}/erasures`, 20);

export const erasureQuery = (id: string) =>
  queryOptions({
    queryKey: ["erasures", id],
    queryFn: ({ signal }) => read<ErasureDetail>(`/api/erasures/${id}`, signal),
    refetchInterval: ({ state: { data } }) => (data?.state === "running" ? runningPollMs : false),
  });
