// One project: its name, its id, and its end.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Project } from "../../src/model/project.ts";
import { ConfirmDialog } from "../forms/ConfirmDialog.tsx";
import { ProjectForm } from "../forms/ProjectForm.tsx";
import { projectsQuery } from "../queries/projects.ts";
import { NotFound } from "../shell/NotFound.tsx";
import { Button } from "../ui/Button.tsx";
import { CopyText } from "../ui/Copy.tsx";
import { Page } from "../ui/Page.tsx";
import { Loaded } from "../ui/State.tsx";
import { DayTime } from "../ui/Time.tsx";
import { toast } from "../ui/Toast.tsx";

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
  const [deleting, setDeleting] = useState(false);
  return (
    <Page title="Project">
      <div className="narrow stack">
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
        <section className="card stack">
          <h2>Delete this project</h2>
          <p className="quiet">Its agents, keys, test cases, traces and verdicts go with it.</p>
          <div>
            <Button icon="trash" onClick={() => setDeleting(true)}>
              Delete project…
            </Button>
          </div>
        </section>
      </div>
      {deleting && (
        <ConfirmDialog
          title="Delete project"
          about="Its agents, keys, test cases, traces and verdicts are deleted too. This cannot be undone."
          name={project.name}
          path={`/api/projects/${project.id}`}
          action="Delete project"
          onClose={() => setDeleting(false)}
          onDone={async () => {
            toast(`“${project.name}” is deleted.`);
            await queries.resetQueries({ queryKey: projectsQuery.queryKey, exact: true });
            await navigate({ to: "/" });
          }}
        />
      )}
    </Page>
  );
}
