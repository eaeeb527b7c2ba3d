// Form for a project, new or existing: its name.

import { useQueryClient } from "@tanstack/react-query";
import type { Project } from "../../src/model/project.ts";
import { createProject, renameProject } from "../mutations/projects.ts";
import { projectsQuery } from "../queries/projects.ts";
import { NameField } from "./NameField.tsx";
import { SubmitRow } from "./SubmitRow.tsx";
import { textOf, useSubmit } from "./submit.ts";

type ProjectFormProps = { project?: Project; onDone: (project: Project) => void };

export function ProjectForm({ project, onDone }: ProjectFormProps) {
  const queries = useQueryClient();
  const { form, busy, faults, failure } = useSubmit<Project>({
    send: fields => {
      const name = textOf(fields, "name");
      return project ? renameProject(project.id, name) : createProject(name);
    },
    done: async saved => {
      await queries.invalidateQueries({ queryKey: projectsQuery.queryKey, exact: true });
      onDone(saved);
    },
  });
  return (
    <form {...form} className="stack">
      <NameField defaultValue={project?.name} fault={faults["name"]} />
      <SubmitRow failure={failure} busy={busy}>
        {project ? "Save" : "Create project"}
      </SubmitRow>
    </form>
  );
}
