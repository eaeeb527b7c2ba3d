// The commands of the palette: pages, agents, tests, a trace by its id, and actions.
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import type { Project } from "../../src/http/projects/schemas.ts";
import type { ListedTest } from "../../src/http/test-cases/schemas.ts";
import { openTestStatus } from "../forms/open-test.ts";
import { messageOf, switchTests } from "../forms/test-changes.ts";
import { useAllPages } from "../pages/tests/all-pages.ts";
import { agentsQuery } from "../queries/agents.ts";
import { findTraceQuery } from "../queries/find-trace.ts";
import { projectsQuery } from "../queries/projects.ts";
import { testQuery, testsQuery } from "../queries/tests.ts";
import { setTheme, themes } from "../theme.ts";
import type { IconName } from "../ui/icons.ts";
import { toast } from "../ui/Toast.tsx";
import { listPageCommands } from "./page-commands.ts";
import { externalIdOf, type Ranked, traceIdOf } from "./palette-rank.ts";
import { useSignOut } from "./sign-out.ts";

export type Command = Ranked & { icon: IconName; run: () => void };

/** Agents listed before the user types. */
const offeredMax = 10;

const agentPages = [
  ["overview", "overview"],
  ["traces", "traces"],
  ["tests", "test cases"],
  ["runs", "runs"],
  ["insights", "insights"],
  ["start", "get started"],
  ["settings", "settings"],
] as const;

const settings: readonly (readonly [path: string, icon: IconName, label: string])[] = [
  ["profile", "person", "profile"],
  ["alerts", "info", "alerts"],
  ["sessions", "screen", "sessions"],
  ["tokens", "key", "access tokens"],
  ["judge", "gear", "judge"],
  ["retention", "clock", "retention"],
  ["appearance", "sun", "appearance"],
  ["shortcuts", "gear", "shortcuts"],
];

export function useCommands(project: Project | undefined, onHelp: () => void): Command[] {
  const go = useGoCommand();
  const signOut = useSignOut();
  const { data: projects = [] } = useQuery(projectsQuery);
  const [pageCommands] = useState(listPageCommands);
  const agents = useAgentCommands(project);
  const tests = useTestCommands(project);
  const base = project && `/projects/${project.id}`;
  return [
    ...pageCommands.map(({ label, icon, run }): Command => ({ id: `page ${label}`, icon, label, run })),
    ...(base
      ? [
          go("agents", "agent", "Agents", `${base}/agents`),
          go("keys", "key", "Keys", `${base}/keys`),
          go("new-key", "plus", "Create key", `${base}/keys?create=key`),
          go("ingestion", "log", "Ingestion log", `${base}/ingestion`),
          go("project", "project", "Project settings", `${base}/settings`),
          go("project-judge", "model", "Project settings: judge", `${base}/settings/judge`),
          go("prices", "model", "Project settings: prices", `${base}/settings/prices`),
          go("privacy", "key", "Project settings: privacy", `${base}/settings/privacy`),
          go("erasures", "trash", "Project settings: erase data", `${base}/settings/erasures`),
          go("labels", "bookmark", "Project settings: labels", `${base}/settings/labels`),
          ...agents,
          ...tests,
        ]
      : []),
    ...projects
      .filter(({ id }) => id !== project?.id)
      .map(({ id, name }) => go(id, "project", `Project: ${name}`, `/projects/${id}/agents`)),
    ...settings.map(([path, icon, label]) =>
      go(`settings-${path}`, icon, `Settings: ${label}`, `/settings/${path}`),
    ),
    ...themes.map(
      ({ value, label }): Command => ({
        id: `theme-${value}`,
        icon: value === "dark" ? "moon" : value === "light" ? "sun" : "screen",
        label: `Switch theme: ${label.toLowerCase()}`,
        run: () => {
          setTheme(value);
          toast(`Theme switched to ${label.toLowerCase()}`);
        },
      }),
    ),
    { id: "help", icon: "help", label: "Keyboard shortcuts", run: onHelp },
    { id: "sign-out", icon: "person", label: "Sign out", run: () => void signOut() },
  ];
}

function useGoCommand() {
  const navigate = useNavigate();
  return (id: string, icon: IconName, label: string, href: string): Command => ({
    id,
    icon,
    label,
    run: () => void navigate({ href }),
  });
}

function useAgentCommands(project: Project | undefined): Command[] {
  const go = useGoCommand();
  const { data: agents = [] } = useAllPages(
    useInfiniteQuery({ ...agentsQuery(project?.id ?? ""), enabled: project !== undefined }),
  );
  return agents.flatMap(({ id, name }, at) =>
    agentPages.map(([path, page], place) => ({
      ...go(`${id}-${path}`, "agent", `${name}: ${page}`, `/projects/${project?.id}/agents/${id}/${path}`),
      more: place > 0 || at >= offeredMax,
    })),
  );
}

/** The tests of the agent whose page is open, and what can be done with them without a question. */
function useTestCommands(project: Project | undefined): Command[] {
  const go = useGoCommand();
  const queries = useQueryClient();
  const { agentId } = useParams({ strict: false });
  const { data: tests = [] } = useAllPages(
    useInfiniteQuery({ ...testsQuery(agentId ?? ""), enabled: agentId !== undefined }),
  );
  if (agentId === undefined || !project) return [];
  const base = `/projects/${project.id}/agents/${agentId}/tests`;
  const switchStatus = async (test: ListedTest, status: ListedTest["status"], done: string) => {
    const problem = await statusProblem(agentId, test, status);
    toast(problem ? `“${test.name}” not ${done}: ${problem}` : `“${test.name}” ${done}`);
    await queries.invalidateQueries({ queryKey: testsQuery(agentId).queryKey });
    await queries.invalidateQueries({ queryKey: testQuery(test.id).queryKey });
  };
  return [
    go("new-test", "plus", "Create test case", `${base}/new`),
    ...tests.flatMap(test => {
      const { id, name, status } = test;
      const [verb, to, done] =
        status === "active"
          ? (["Disable", "disabled", "disabled"] as const)
          : (["Activate", "active", "activated"] as const);
      return [
        { ...go(`test-${id}`, "assert", `Test: ${name}`, `${base}/${id}`), more: true },
        { ...go(`results-${id}`, "assert", `Test results: ${name}`, `${base}/${id}/results`), more: true },
        {
          id: `switch-${id}`,
          icon: status === "active" ? "pause" : "play",
          label: `${verb} test: ${name}`,
          run: () => void switchStatus(test, to, done),
          more: true,
        } satisfies Command,
      ];
    }),
  ];
}

/** Changes the status of a test. Returns why it could not be changed. */
async function statusProblem(
  agentId: string,
  test: ListedTest,
  status: ListedTest["status"],
): Promise<string | undefined> {
  const setStatus = openTestStatus(test.id);
  if (!setStatus) return (await switchTests(agentId, [test], status))[0]?.message;
  const answer = await setStatus(status);
  return answer.ok ? undefined : messageOf(answer.failure);
}

/** The trace whose id, or external id in the open agent, was typed or pasted. */
export function useTraceCommand(text: string): { command: Command | undefined; isSearching: boolean } {
  const go = useGoCommand();
  const { agentId } = useParams({ strict: false });
  const { data: trace, isFetching } = useQuery(findTraceQuery(traceIdOf(text), externalIdOf(text), agentId));
  if (!trace) return { command: undefined, isSearching: isFetching };
  const href = `/projects/${trace.projectId}/agents/${trace.agentId}/traces/${trace.id}`;
  return { command: go(`trace-${trace.id}`, "log", `Trace: ${trace.title}`, href), isSearching: isFetching };
}
