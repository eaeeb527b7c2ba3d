// The current project: the one in the URL, or else the one opened last.
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import type { Project } from "../../src/http/projects/schemas.ts";
import { persistedChoice } from "../persisted-choice.ts";
import { projectsQuery } from "../queries/projects.ts";

export const lastProject = persistedChoice<string>("project", "", () => true);

/** Undefined while projects are loading, or if the URL names a project that the account does not have. */
export function useProject(): Project | undefined {
  const { projectId } = useParams({ strict: false });
  const last = lastProject.use();
  const { data: projects } = useQuery(projectsQuery);
  if (projectId !== undefined) return projects?.find(({ id }) => id === projectId);
  return projects?.find(({ id }) => id === last) ?? projects?.at(-1);
}
