// Command palette: type a few letters to find a page or an action.
import { Autocomplete } from "@base-ui/react/autocomplete";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import type { Project } from "../../src/model/project.ts";
import { counted } from "../labels.ts";
import { agentsQuery } from "../queries/agents.ts";
import { projectsQuery } from "../queries/projects.ts";
import { setTheme, themes } from "../theme.ts";
import { Dialog } from "../ui/Dialog.tsx";
import { Icon, type IconName } from "../ui/Icon.tsx";
import { useSignOut } from "./sign-out.ts";

type Command = {
  id: string;
  icon: IconName;
  label: string;
  run: () => void;
  /** Listed only when the user types: there may be hundreds. */
  more?: boolean;
};

const shownMax = 50;
const offeredMax = 10;

type PaletteProps = { project: Project | undefined; onClose: () => void; onHelp: () => void };

export default function Palette({ project, onClose, onHelp }: PaletteProps) {
  const commands = useCommands(project, onHelp);
  const [text, setText] = useState("");
  const found = commands
    .filter(({ label, more }) => matches(label, text) && !(more && text.trim() === ""))
    .sort((one, other) => Number(matchesWords(other.label, text)) - Number(matchesWords(one.label, text)));
  return (
    <Dialog title="Go to…" onClose={onClose}>
      <Autocomplete.Root
        inline
        open
        items={found.slice(0, shownMax)}
        filter={null}
        itemToStringValue={({ label }) => label}
        value={text}
        onValueChange={(next, { reason }) => {
          if (reason === "input-change") setText(next);
        }}
        autoHighlight="always"
        keepHighlight
      >
        <Autocomplete.Input
          className="input"
          aria-label="Search pages and actions"
          placeholder="Agents, keys, a project, a theme…"
        />
        <Autocomplete.List aria-label="Pages and actions" className="palette-list">
          {(command: Command) => (
            <Autocomplete.Item
              key={command.id}
              value={command}
              className="menu-item"
              onClick={() => {
                onClose();
                command.run();
              }}
            >
              <Icon name={command.icon} />
              {command.label}
            </Autocomplete.Item>
          )}
        </Autocomplete.List>
      </Autocomplete.Root>
      <p role="status" className={found.length === 0 || found.length > shownMax ? "quiet small" : "unseen"}>
        {resultText(found.length)}
      </p>
    </Dialog>
  );
}

function useCommands(project: Project | undefined, onHelp: () => void): Command[] {
  const navigate = useNavigate();
  const signOut = useSignOut();
  const { data: projects = [] } = useQuery(projectsQuery);
  const {
    data: agents = [],
    hasNextPage,
    isFetching,
    fetchNextPage,
  } = useInfiniteQuery({ ...agentsQuery(project?.id ?? ""), enabled: project !== undefined });
  // Load all pages, so that every agent can be found by name.
  useEffect(() => {
    if (hasNextPage && !isFetching) void fetchNextPage();
  }, [hasNextPage, isFetching, fetchNextPage]);
  const go = (id: string, icon: IconName, label: string, href: string): Command => ({
    id,
    icon,
    label,
    run: () => void navigate({ href }),
  });
  const base = project && `/projects/${project.id}`;
  return [
    ...(base
      ? [
          go("agents", "agent", "Agents", `${base}/agents`),
          go("keys", "key", "Keys", `${base}/keys`),
          go("ingestion", "log", "Ingestion log", `${base}/ingestion`),
          go("project", "project", "Project settings", `${base}/settings`),
          go("project-judge", "model", "Project settings: judge", `${base}/settings/judge`),
          go("prices", "model", "Project settings: prices", `${base}/settings/prices`),
          ...agents.flatMap(({ id, name }, at) =>
            agentPages.map(([path, page], place) => ({
              ...go(`${id}-${path}`, "agent", `${name}: ${page}`, `${base}/agents/${id}/${path}`),
              more: place > 0 || at >= offeredMax,
            })),
          ),
        ]
      : []),
    ...projects
      .filter(({ id }) => id !== project?.id)
      .map(({ id, name }) => go(id, "project", `Project: ${name}`, `/projects/${id}/agents`)),
    go("profile", "person", "Settings: profile", "/settings/profile"),
    go("alerts", "info", "Settings: alerts", "/settings/alerts"),
    go("sessions", "screen", "Settings: sessions", "/settings/sessions"),
    go("tokens", "key", "Settings: access tokens", "/settings/tokens"),
    go("judge", "gear", "Settings: judge", "/settings/judge"),
    go("retention", "clock", "Settings: retention", "/settings/retention"),
    go("appearance", "sun", "Settings: appearance", "/settings/appearance"),
    go("shortcuts", "gear", "Settings: shortcuts", "/settings/shortcuts"),
    ...themes.map(
      ({ value, label }): Command => ({
        id: `theme-${value}`,
        icon: value === "dark" ? "moon" : value === "light" ? "sun" : "screen",
        label: `Theme: ${label.toLowerCase()}`,
        run: () => setTheme(value),
      }),
    ),
    { id: "help", icon: "help", label: "Keyboard shortcuts", run: onHelp },
    { id: "sign-out", icon: "person", label: "Sign out", run: () => void signOut() },
  ];
}

function resultText(count: number): string {
  if (count === 0) return "No results";
  return count > shownMax
    ? `Showing ${shownMax} of ${count}. Type more to narrow the list.`
    : counted(count, "result");
}

const agentPages = [
  ["traces", "traces"],
  ["tests", "test cases"],
  ["runs", "runs"],
  ["insights", "insights"],
  ["start", "get started"],
  ["settings", "settings"],
] as const;

/** Every typed word occurs in the label, in any order. */
function matches(label: string, text: string): boolean {
  const words = text.toLowerCase().split(/\s+/);
  return words.every(word => label.toLowerCase().includes(word));
}

/** Every typed word is a whole word of the label: "robot 3" ranks Robot 3 before Robot 203. */
function matchesWords(label: string, text: string): boolean {
  const own = label.toLowerCase().split(/[\s:]+/);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return words.length > 0 && words.every(word => own.includes(word));
}
