// One project: its name, its id, and its end.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import type { Project } from "../../../src/model/project.ts";
import { DeleteSection } from "../../forms/DeleteSection.tsx";
import { ProjectForm } from "../../forms/ProjectForm.tsx";
import { deleteProject } from "../../mutations/projects.ts";
import { projectsQuery } from "../../queries/projects.ts";
import { NotFound } from "../../shell/NotFound.tsx";
import { CopyText } from "../../ui/Copy.tsx";
import { Loaded } from "../../ui/State.tsx";
import { DayTime } from "../../ui/Time.tsx";
import { toast } from "../../ui/Toast.tsx";
import { ProjectFrame } from "./ProjectFrame.tsx";

const route = getRouteApi("/member/projects/$projectId/settings");

export function ProjectPage() {
  const { projectId } = route.useParams();
  const projects = useQuery(projectsQuery);
  return (
    <Loaded query={projects}>
      {items => {
        const project = items.find(({ id }) => id === projectId);
        return project ? <OneProject key={projectId} project={project} /> : <NotFound />;
      }}
    </Loaded>
  );
}

function OneProject({ project }: { project: Project }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return (
    <ProjectFrame>
      <dl className="facts">
        <dt>Id</dt>
        <dd>
          <CopyText text={project.id} label="project id" />
        </dd>
        <dt>Made</dt>
        <dd>
          <DayTime at={project.createdAt} />
        </dd>
      </dl>
      <section className="card">
        <ProjectForm project={project} onDone={() => toast("The project is saved.")} />
      </section>
      <DeleteSection
        noun="project"
        name={project.name}
        send={() => deleteProject(project.id)}
        lost="Its agents, keys, test cases, traces and verdicts go with it."
        onDone={async () => {
          await queries.resetQueries({ queryKey: projectsQuery.queryKey, exact: true });
          await navigate({ to: "/" });
        }}
      />
    </ProjectFrame>
  );
}
