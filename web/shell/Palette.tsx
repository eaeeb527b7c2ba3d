// The palette: type a few letters of where to go or what to do.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useEffect, useId, useState } from "react";
import type { Project } from "../../src/model/project.ts";
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
  /** Found by typing alone: there may be hundreds. */
  more?: boolean;
};

const shownMax = 50;
const offeredMax = 10;

type PaletteProps = { project: Project | undefined; onClose: () => void; onHelp: () => void };

export default function Palette({ project, onClose, onHelp }: PaletteProps) {
  const commands = useCommands(project, onHelp);
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const listId = useId();
  const all = commands
    .filter(({ label, more }) => matches(label, text) && !(more && text.trim() === ""))
    .sort((one, other) => Number(holdsWords(other.label, text)) - Number(holdsWords(one.label, text)));
  const found = all.slice(0, shownMax);
  const chosen = found[Math.min(at, found.length - 1)];
  const optionId = (id: string) => `${listId}-${id}`;
  const chosenId = chosen && optionId(chosen.id);
  useEffect(() => {
    if (chosenId) document.getElementById(chosenId)?.scrollIntoView({ block: "nearest" });
  }, [chosenId]);

  const run = (command: Command | undefined) => {
    if (!command) return;
    onClose();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) setAt((Math.min(at, found.length - 1) + step + found.length) % found.length);
    else if (event.key === "Enter") run(chosen);
    else return;
    event.preventDefault();
  };

  return (
    <Dialog title="Go to…" onClose={onClose}>
      <input
        className="input"
        role="combobox"
        aria-label="Search pages and actions"
        aria-expanded="true"
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={chosenId}
        placeholder="Agents, keys, a project, a theme…"
        value={text}
        onChange={event => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id={listId} role="listbox" aria-label="Pages and actions" className="palette-list">
        {found.map(command => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: keys are the input's, which keeps the focus.
          <div
            key={command.id}
            id={optionId(command.id)}
            role="option"
            tabIndex={-1}
            aria-selected={command === chosen}
            className="menu-item"
            data-highlighted={command === chosen || undefined}
            onClick={() => run(command)}
          >
            <Icon name={command.icon} />
            {command.label}
          </div>
        ))}
      </div>
      <p role="status" className={all.length === 0 || all.length > shownMax ? "quiet small" : "unseen"}>
        {all.length === 0 ? "Nothing by that name." : foundText(all.length)}
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
  // Every agent can be found by its name, on whichever page it is.
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
          go("project-judge", "model", "Project: judge", `${base}/settings/judge`),
          go("prices", "model", "Project: prices of judges", `${base}/settings/prices`),
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

function foundText(count: number): string {
  return count > shownMax ? `The first ${shownMax} of ${count}: type more of the name.` : `${count} found`;
}

const agentPages = [
  ["traces", "traces"],
  ["tests", "test cases"],
  ["runs", "runs"],
  ["insights", "insights"],
  ["start", "get started"],
  ["settings", "settings"],
] as const;

/** Every word typed occurs, in any order. */
function matches(label: string, text: string): boolean {
  const words = text.toLowerCase().split(/\s+/);
  return words.every(word => label.toLowerCase().includes(word));
}

/** Every word typed is one of the label's own: "robot 3" means Robot 3 rather than Robot 203. */
function holdsWords(label: string, text: string): boolean {
  const own = label.toLowerCase().split(/[\s:]+/);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return words.length > 0 && words.every(word => own.includes(word));
}
