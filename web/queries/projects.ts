// The projects of the account.
import { queryOptions } from "@tanstack/react-query";
import type { Project } from "../../src/model/project.ts";
import { read } from "../api.ts";
import type { Page } from "../shapes.ts";

/** The first 200: more than anyone switches between. */
export const projectsQuery = queryOptions({
  queryKey: ["projects"],
  queryFn: ({ signal }) => read<Page<Project>>("/api/projects?limit=200", signal),
  select: ({ items }) => items,
  staleTime: 30_000,
});
