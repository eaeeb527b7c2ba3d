// Routes of a project and its agents. Unknown ids lead to the not-found page.

import { createRoute, lazyRouteComponent, notFound, redirect } from "@tanstack/react-router";
import type { Page } from "../../src/http/frame/schemas.ts";
import type { Project } from "../../src/http/projects/schemas.ts";
import { agentQuery } from "../queries/agents.ts";
import { projectsQuery } from "../queries/projects.ts";
import { traceSearch } from "../queries/trace-search.ts";
import { textsOf } from "../search.ts";
import { lastProject } from "../shell/project.ts";
import { member } from "./accounts.ts";

const project = createRoute({
  path: "/projects/$projectId",
  getParentRoute: () => member,
  beforeLoad: ({ params, location }) => {
    lastProject.set(params.projectId);
    if (location.pathname === `/projects/${params.projectId}`) {
      throw redirect({ to: "/projects/$projectId/agents", params });
    }
  },
  loader: async ({ context: { queries }, params }) => {
    const has = ({ items }: Page<Project>) => items.some(({ id }) => id === params.projectId);
    if (has(await queries.ensureQueryData(projectsQuery))) return;
    // The project may have been created elsewhere since the list was cached.
    if (!has(await queries.fetchQuery({ ...projectsQuery, staleTime: 0 }))) throw notFound();
  },
});
const agents = createRoute({
  path: "/agents",
  getParentRoute: () => project,
  component: lazyRouteComponent(() => import("../pages/agents/AgentsPage.tsx"), "AgentsPage"),
});
const agent = createRoute({
  path: "/agents/$agentId",
  getParentRoute: () => project,
  beforeLoad: ({ params, location }) => {
    if (location.pathname === `/projects/${params.projectId}/agents/${params.agentId}`) {
      throw redirect({ to: "/projects/$projectId/agents/$agentId/overview", params });
    }
  },
  loader: async ({ context, params }) => {
    const agent = await context.queries.ensureQueryData(agentQuery(params.agentId));
    if (agent.projectId !== params.projectId) throw notFound();
  },
  component: lazyRouteComponent(() => import("../pages/agents/AgentLayout.tsx"), "AgentLayout"),
});
const overview = createRoute({
  path: "/overview",
  getParentRoute: () => agent,
  component: lazyRouteComponent(() => import("../pages/overview/OverviewPage.tsx"), "OverviewPage"),
});
const traces = createRoute({
  path: "/traces",
  getParentRoute: () => agent,
  validateSearch: textsOf(...traceSearch),
  component: lazyRouteComponent(() => import("../pages/traces/TracesPage.tsx"), "TracesPage"),
});
const conversations = createRoute({
  path: "/traces/conversations",
  getParentRoute: () => agent,
  validateSearch: textsOf("kind"),
  component: lazyRouteComponent(
    () => import("../pages/conversations/ConversationsPage.tsx"),
    "ConversationsPage",
  ),
});
// `turn` is the id of the trace to begin with, or "end". A conversation id may have any characters.
const conversation = createRoute({
  path: "/traces/conversation",
  getParentRoute: () => agent,
  validateSearch: textsOf("id", "turn"),
  component: lazyRouteComponent(
    () => import("../pages/conversations/ConversationPage.tsx"),
    "ConversationPage",
  ),
});
const trace = createRoute({
  path: "/traces/$traceId",
  getParentRoute: () => agent,
  validateSearch: textsOf("view", "span", "attribute", "test", "check", "run", "find", "only", "quote"),
  component: lazyRouteComponent(() => import("../pages/trace/TracePage.tsx"), "TracePage"),
});
const tests = createRoute({
  path: "/tests",
  getParentRoute: () => agent,
  validateSearch: textsOf("text", "status", "behavior", "last", "sort"),
  component: lazyRouteComponent(() => import("../pages/tests/TestsPage.tsx"), "TestsPage"),
});
// `testId` "new" is an unsaved test; the search parameters draft it from a trace, or from a value in one.
const test = createRoute({
  path: "/tests/$testId",
  getParentRoute: () => agent,
  validateSearch: textsOf(
    "template",
    "trace",
    "span",
    "attribute",
    "path",
    "mustNot",
    "view",
    "inputs",
    "backtest",
    "group",
  ),
  component: lazyRouteComponent(() => import("../pages/test/TestPage.tsx"), "TestPage"),
});
const testResults = createRoute({
  path: "/tests/$testId/results",
  getParentRoute: () => agent,
  validateSearch: textsOf("kind", "outcome", "fullyEvaluated", "from", "to"),
  component: lazyRouteComponent(() => import("../pages/tests/TestResultsPage.tsx"), "TestResultsPage"),
});
const runs = createRoute({
  path: "/runs",
  getParentRoute: () => agent,
  component: lazyRouteComponent(() => import("../pages/runs/RunsPage.tsx"), "RunsPage"),
});
const launch = createRoute({
  path: "/runs/$launchId",
  getParentRoute: () => agent,
  validateSearch: textsOf("only", "result", "test"),
  component: lazyRouteComponent(() => import("../pages/runs/LaunchPage.tsx"), "LaunchPage"),
});
const compare = createRoute({
  path: "/runs/$launchId/compare",
  getParentRoute: () => agent,
  validateSearch: textsOf("with", "change", "test"),
  component: lazyRouteComponent(() => import("../pages/runs/ComparePage.tsx"), "ComparePage"),
});
const run = createRoute({
  path: "/runs/$launchId/$runId",
  getParentRoute: () => agent,
  component: lazyRouteComponent(() => import("../pages/runs/RunPage.tsx"), "RunPage"),
});
const insights = createRoute({
  path: "/insights",
  getParentRoute: () => agent,
  validateSearch: textsOf("by", "range", "from", "to", "interval", "testId", "form"),
  component: lazyRouteComponent(() => import("../pages/insights/InsightsPage.tsx"), "InsightsPage"),
});
const start = createRoute({
  path: "/start",
  getParentRoute: () => agent,
  validateSearch: textsOf("tab"),
  component: lazyRouteComponent(() => import("../pages/start/StartPage.tsx"), "StartPage"),
});
const agentSettings = createRoute({
  path: "/settings",
  getParentRoute: () => agent,
  component: lazyRouteComponent(() => import("../pages/agents/AgentSettingsPage.tsx"), "AgentSettingsPage"),
});
const judging = createRoute({
  path: "/judging",
  getParentRoute: () => agent,
  validateSearch: textsOf("days"),
  component: lazyRouteComponent(() => import("../pages/judge-usage/JudgeUsagePage.tsx"), "JudgeUsagePage"),
});
const ingestion = createRoute({
  path: "/ingestion",
  getParentRoute: () => project,
  validateSearch: textsOf("code", "key", "service", "time"),
  component: lazyRouteComponent(() => import("../pages/ingestion/IngestionPage.tsx"), "IngestionPage"),
});
const keys = createRoute({
  path: "/keys",
  getParentRoute: () => project,
  validateSearch: textsOf("create"),
  component: lazyRouteComponent(() => import("../pages/keys/KeysPage.tsx"), "KeysPage"),
});
const projectSettings = createRoute({
  path: "/settings",
  getParentRoute: () => project,
  component: lazyRouteComponent(() => import("../pages/project/ProjectPage.tsx"), "ProjectPage"),
});
const projectJudge = createRoute({
  path: "/settings/judge",
  getParentRoute: () => project,
  component: lazyRouteComponent(() => import("../pages/project/ProjectJudgePage.tsx"), "ProjectJudgePage"),
});
const projectLabels = createRoute({
  path: "/settings/labels",
  getParentRoute: () => project,
  validateSearch: textsOf("test"),
  component: lazyRouteComponent(() => import("../pages/judge-labels/LabelsPage.tsx"), "LabelsPage"),
});
const projectErasures = createRoute({
  path: "/settings/erasures",
  getParentRoute: () => project,
  component: lazyRouteComponent(() => import("../pages/erasures/EraseDataPage.tsx"), "EraseDataPage"),
});
const projectPrices = createRoute({
  path: "/settings/prices",
  getParentRoute: () => project,
  component: lazyRouteComponent(() => import("../pages/project/ProjectPricesPage.tsx"), "ProjectPricesPage"),
});

const projectPrivacy = createRoute({
  path: "/settings/privacy",
  getParentRoute: () => project,
  component: lazyRouteComponent(() => import("../pages/privacy/PrivacyPage.tsx"), "PrivacyPage"),
});

export const projectTree = project.addChildren([
  agents,
  agent.addChildren([
    overview,
    traces,
    conversations,
    conversation,
    trace,
    tests,
    test,
    testResults,
    runs,
    launch,
    compare,
    run,
    insights,
    start,
    judging,
    agentSettings,
  ]),
  keys,
  ingestion,
  projectSettings,
  projectJudge,
  projectLabels,
  projectPrices,
  projectPrivacy,
  projectErasures,
]);
