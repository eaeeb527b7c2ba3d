// Which project the navigation is about: that of the address, else the one looked at last.
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import type { Project } from "../../src/model/project.ts";
import { persistedChoice } from "../persisted-choice.ts";
import { projectsQuery } from "../queries/projects.ts";

export const lastProject = persistedChoice<string>("project", "", () => true);

/** Undefined while projects are loading, or where the address names none of the account's. */
export function useProject(): Project | undefined {
  const { projectId } = useParams({ strict: false });
  const last = lastProject.use();
  const { data: projects } = useQuery(projectsQuery);
  if (projectId !== undefined) return projects?.find(({ id }) => id === projectId);
  return projects?.find(({ id }) => id === last) ?? projects?.at(-1);
}
