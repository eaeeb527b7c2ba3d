// Form for a project, new or existing: its name.

import { useQueryClient } from "@tanstack/react-query";
import type { Project } from "../../src/http/projects/schemas.ts";
import { createProject, renameProject } from "../mutations/projects.ts";
import { readNow } from "../queries/client.ts";
import { projectsQuery } from "../queries/projects.ts";
import { textDrafting } from "./draft.ts";
import { NameField } from "./NameField.tsx";
import { SubmitRow } from "./SubmitRow.tsx";
import { useSubmit } from "./submit.ts";
import { useDraft } from "./use-draft.ts";

type ProjectFormProps = { project?: Project; onDone: (project: Project) => void };

export function ProjectForm({ project, onDone }: ProjectFormProps) {
  const queries = useQueryClient();
  const saved = project?.name ?? "";
  const { draft: name, ...drafted } = useDraft(saved, textDrafting, async () => {
    const { items } = await readNow(queries, projectsQuery);
    return items.find(({ id }) => id === project?.id)?.name ?? saved;
  });
  const { form, faults, ...row } = useSubmit<Project>({
    draft: project && drafted,
    send: () => (project ? renameProject(project.id, name) : createProject(name)),
    done: async answer => {
      drafted.settle(name, answer.name);
      await queries.invalidateQueries({ queryKey: projectsQuery.queryKey, exact: true });
      onDone(answer);
    },
  });
  return (
    <form {...form} className="stack">
      <NameField
        value={name}
        onChange={({ target }) => drafted.replace(target.value)}
        fault={faults["name"]}
      />
      <SubmitRow {...row}>{project ? "Save" : "Create project"}</SubmitRow>
    </form>
  );
}
