// General settings of a project: name, ID, retention, rate limit and deletion.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import type { Project } from "../../../src/http/projects/schemas.ts";
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
import { RateLimitSection } from "./RateLimitSection.tsx";
import { RetentionSection } from "./RetentionSection.tsx";

const route = getRouteApi("/member/projects/$projectId/settings");

export function ProjectPage() {
  const { projectId } = route.useParams();
  const projects = useQuery(projectsQuery);
  return (
    <Loaded query={projects}>
      {items => {
        const project = items.find(({ id }) => id === projectId);
        return project ? <ProjectSettings key={projectId} project={project} /> : <NotFound />;
      }}
    </Loaded>
  );
}

function ProjectSettings({ project }: { project: Project }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return (
    <ProjectFrame>
      <dl className="facts">
        <dt>ID</dt>
        <dd>
          <CopyText text={project.id} label="project ID" />
        </dd>
        <dt>Created</dt>
        <dd>
          <DayTime at={project.createdAt} />
        </dd>
      </dl>
      <section className="card">
        <ProjectForm project={project} onDone={() => toast("Project saved")} />
      </section>
      <RetentionSection project={project} />
      <RateLimitSection projectId={project.id} />
      <DeleteSection
        noun="project"
        name={project.name}
        send={() => deleteProject(project.id)}
        lost="Also deletes its agents, keys, test cases, traces and results."
        onDone={async () => {
          await queries.resetQueries({ queryKey: projectsQuery.queryKey, exact: true });
          await navigate({ to: "/", replace: true, ignoreBlocker: true });
        }}
      />
    </ProjectFrame>
  );
}
