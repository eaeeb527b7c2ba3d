// Query for the account's projects.

import { queryOptions } from "@tanstack/react-query";
import type { Page } from "../../src/http/frame/schemas.ts";
import type { Project } from "../../src/http/projects/schemas.ts";
import { read } from "../api.ts";

/** The first 200, which is more than anyone has to switch between. */
export const projectsQuery = queryOptions({
  queryKey: ["projects"],
  queryFn: ({ signal }) => read<Page<Project>>("/api/projects?limit=200", signal),
  select: ({ items }) => items,
  staleTime: 30_000,
});
