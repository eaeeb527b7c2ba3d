// The main navigation: project menu, project pages, agents, palette, shortcuts and account menu.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import type { Project } from "../../src/http/projects/schemas.ts";
import { ProjectForm } from "../forms/ProjectForm.tsx";
import { sessionQuery } from "../queries/account.ts";
import { agentsQuery } from "../queries/agents.ts";
import { projectsQuery } from "../queries/projects.ts";
import { setTheme, themes, useTheme } from "../theme.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { Icon } from "../ui/Icon.tsx";
import { Menu } from "../ui/Menu.tsx";
import { Logo } from "./Logo.tsx";
import { useSignOut } from "./sign-out.ts";

type NavigationProps = { project: Project | undefined; onPalette: () => void; onHelp: () => void };

export function Navigation({ project, onPalette, onHelp }: NavigationProps) {
  return (
    <nav aria-label="Main" className="nav">
      <Logo />
      <ProjectMenu project={project} />
      <div className="nav-links">{project && <ProjectLinks project={project} />}</div>
      <div className="nav-end">
        <Button look="plain" icon="search" onClick={onPalette}>
          Go to…
        </Button>
        <Button look="plain" icon="help" onClick={onHelp}>
          Shortcuts
        </Button>
        <AccountMenu />
      </div>
    </nav>
  );
}

function ProjectLinks({ project }: { project: Project }) {
  const params = { projectId: project.id };
  return (
    <ul>
      <li>
        <Link to="/projects/$projectId/agents" params={params} activeOptions={{ exact: true }}>
          <Icon name="agent" />
          Agents
        </Link>
        <AgentLinks project={project} />
      </li>
      <li>
        <Link to="/projects/$projectId/keys" params={params}>
          <Icon name="key" />
          Keys
        </Link>
      </li>
      <li>
        <Link to="/projects/$projectId/ingestion" params={params}>
          <Icon name="log" />
          Ingestion log
        </Link>
      </li>
      <li>
        <Link to="/projects/$projectId/settings" params={params}>
          <Icon name="project" />
          Project settings
        </Link>
      </li>
    </ul>
  );
}

/** The first page of agents; the others are on the agents page and in the palette. */
function AgentLinks({ project: { id: projectId } }: { project: Project }) {
  const { data: agents = [], hasNextPage } = useInfiniteQuery(agentsQuery(projectId));
  const { agentId } = useParams({ strict: false });
  const list = useRef<HTMLUListElement>(null);
  const isListed = agents.some(({ id }) => id === agentId);
  // Scroll the current agent into view.
  useEffect(() => {
    if (isListed)
      list.current?.querySelector(`[data-agent="${agentId}"]`)?.scrollIntoView({ block: "nearest" });
  }, [agentId, isListed]);
  if (agents.length === 0) return null;
  return (
    <ul className="nav-agents" ref={list}>
      {agents.map(({ id, name }) => (
        <li key={id}>
          <Link
            to="/projects/$projectId/agents/$agentId"
            params={{ projectId, agentId: id }}
            data-agent={id}
            title={name}
          >
            <span>{name}</span>
          </Link>
        </li>
      ))}
      {hasNextPage && (
        <li>
          <Link to="/projects/$projectId/agents" params={{ projectId }} activeOptions={{ exact: true }}>
            <span>More agents…</span>
          </Link>
        </li>
      )}
    </ul>
  );
}

function ProjectMenu({ project }: { project: Project | undefined }) {
  const navigate = useNavigate();
  const { data: projects = [] } = useQuery(projectsQuery);
  const [isCreating, setCreating] = useState(false);
  const open = (projectId: string) =>
    void navigate({ to: "/projects/$projectId/agents", params: { projectId } });
  return (
    <>
      <Menu
        className="nav-project"
        aria-label={`Project: ${project?.name ?? "none"}`}
        entries={[
          {
            kind: "choice",
            label: "Projects",
            chosen: project?.id ?? "",
            choices: projects.map(({ id, name }) => ({ value: id, label: name })),
            onChoose: open,
          },
          { kind: "rule" },
          { kind: "action", icon: "plus", label: "New project…", onChoose: () => setCreating(true) },
        ]}
      >
        <span>{project?.name ?? "Choose project"}</span>
        <Icon name="chevron" />
      </Menu>
      {isCreating && (
        <Dialog
          title="New project"
          about="Each project has its own agents, keys and traces."
          onClose={() => setCreating(false)}
        >
          <ProjectForm
            onDone={({ id }) => {
              setCreating(false);
              open(id);
            }}
          />
        </Dialog>
      )}
    </>
  );
}

function AccountMenu() {
  const { data: session } = useQuery(sessionQuery);
  const navigate = useNavigate();
  const signOut = useSignOut();
  const theme = useTheme();
  return (
    <Menu
      look="plain"
      icon="person"
      className="nav-account"
      entries={[
        { kind: "note", text: session?.user.email ?? "" },
        {
          kind: "action",
          icon: "gear",
          label: "Settings",
          onChoose: () => void navigate({ to: "/settings/profile" }),
        },
        { kind: "rule" },
        {
          kind: "choice",
          label: "Theme",
          chosen: theme,
          choices: themes,
          onChoose: chosen => setTheme(themes.find(({ value }) => value === chosen)!.value),
        },
        { kind: "rule" },
        { kind: "action", label: "Sign out", onChoose: () => void signOut() },
      ]}
    >
      <span>{session?.user.name ?? "Account"}</span>
    </Menu>
  );
}
