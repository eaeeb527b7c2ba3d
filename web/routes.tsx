// Every address of the dashboard: who may open it and which page it shows, loaded when it is first opened.
import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  lazyRouteComponent,
  notFound,
  Outlet,
  redirect,
  useRouter,
} from "@tanstack/react-router";
import type { Project } from "../src/model/project.ts";
import { failureOf } from "./api.ts";
import { sessionQuery } from "./queries/account.ts";
import { agentQuery } from "./queries/agents.ts";
import { projectsQuery } from "./queries/projects.ts";
import { traceSearch } from "./queries/trace-search.ts";
import { nextOf, ownPath, textsOf } from "./search.ts";
import type { Page } from "./shapes.ts";
import { NotFound } from "./shell/NotFound.tsx";
import { lastProject } from "./shell/project.ts";
import { Shell } from "./shell/Shell.tsx";
import { ErrorState, Skeleton } from "./ui/State.tsx";
import { Title } from "./ui/Title.tsx";

type Context = { queries: QueryClient };

export function makeRouter(queries: QueryClient) {
  return createRouter({
    routeTree,
    context: { queries },
    scrollRestoration: true,
    defaultPreload: "intent",
    defaultPendingMs: 200,
    defaultPendingComponent: () => <Skeleton />,
    defaultErrorComponent: RouteFailed,
    defaultNotFoundComponent: NotFound,
    // Values are the texts they are: an id or token of digits stays what it is.
    parseSearch: text => Object.fromEntries(new URLSearchParams(text)),
    stringifySearch: search => {
      const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== "");
      const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
      return text && `?${text}`;
    },
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof makeRouter>;
  }
}

const root = createRootRouteWithContext<Context>()({ component: Outlet });

// For whoever is signed out. `next` is where to go once signed in.
const guest = createRoute({
  id: "guest",
  getParentRoute: () => root,
  validateSearch: nextOf,
  beforeLoad: async ({ context, search }) => {
    if (await context.queries.ensureQueryData(sessionQuery)) throw redirect({ href: search.next ?? "/" });
  },
});
const signIn = createRoute({
  path: "/sign-in",
  getParentRoute: () => guest,
  component: lazyRouteComponent(() => import("./pages/SignInPage.tsx"), "SignInPage"),
});
const signUp = createRoute({
  path: "/sign-up",
  getParentRoute: () => guest,
  component: lazyRouteComponent(() => import("./pages/SignUpPage.tsx"), "SignUpPage"),
});
const forgotPassword = createRoute({
  path: "/forgot-password",
  getParentRoute: () => guest,
  component: lazyRouteComponent(() => import("./pages/ForgotPasswordPage.tsx"), "ForgotPasswordPage"),
});

// Where the links of mails lead, signed in or not.
const verifyEmail = createRoute({
  path: "/verify-email",
  getParentRoute: () => root,
  validateSearch: textsOf("token"),
  component: lazyRouteComponent(() => import("./pages/VerifyEmailPage.tsx"), "VerifyEmailPage"),
});
const resetPassword = createRoute({
  path: "/reset-password",
  getParentRoute: () => root,
  validateSearch: textsOf("token"),
  component: lazyRouteComponent(() => import("./pages/ResetPasswordPage.tsx"), "ResetPasswordPage"),
});

// For whoever is signed in; others sign in first and come back.
const member = createRoute({
  id: "member",
  getParentRoute: () => root,
  beforeLoad: async ({ context, location }) => {
    const session = await context.queries.ensureQueryData(sessionQuery);
    if (session === null) throw redirect({ to: "/sign-in", search: { next: ownPath(location.href) } });
    return { session };
  },
  component: Shell,
});
const home = createRoute({
  path: "/",
  getParentRoute: () => member,
  beforeLoad: async ({ context }) => {
    const { items } = await context.queries.ensureQueryData(projectsQuery);
    const project = items.find(({ id }) => id === lastProject.get()) ?? items.at(-1)!;
    throw redirect({ to: "/projects/$projectId/agents", params: { projectId: project.id } });
  },
});
// Whatever else is asked for.
const unknown = createRoute({ path: "$", getParentRoute: () => member, component: NotFound });
const settings = createRoute({
  path: "/settings",
  getParentRoute: () => member,
  beforeLoad: ({ location }) => {
    if (location.pathname === "/settings") throw redirect({ to: "/settings/profile" });
  },
  component: lazyRouteComponent(() => import("./pages/SettingsPage.tsx"), "SettingsPage"),
});
const settingsProfile = createRoute({
  path: "/profile",
  getParentRoute: () => settings,
  component: lazyRouteComponent(() => import("./pages/SettingsProfile.tsx"), "SettingsProfile"),
});
const settingsSessions = createRoute({
  path: "/sessions",
  getParentRoute: () => settings,
  component: lazyRouteComponent(() => import("./pages/SettingsSessions.tsx"), "SettingsSessions"),
});
const settingsTokens = createRoute({
  path: "/tokens",
  getParentRoute: () => settings,
  component: lazyRouteComponent(() => import("./pages/SettingsTokens.tsx"), "SettingsTokens"),
});
const settingsJudge = createRoute({
  path: "/judge",
  getParentRoute: () => settings,
  component: lazyRouteComponent(() => import("./pages/SettingsJudge.tsx"), "SettingsJudge"),
});
const settingsRetention = createRoute({
  path: "/retention",
  getParentRoute: () => settings,
  component: lazyRouteComponent(() => import("./pages/SettingsRetention.tsx"), "SettingsRetention"),
});
const settingsAppearance = createRoute({
  path: "/appearance",
  getParentRoute: () => settings,
  component: lazyRouteComponent(() => import("./pages/SettingsAppearance.tsx"), "SettingsAppearance"),
});
const settingsShortcuts = createRoute({
  path: "/shortcuts",
  getParentRoute: () => settings,
  component: lazyRouteComponent(() => import("./pages/SettingsShortcuts.tsx"), "SettingsShortcuts"),
});

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
    // Made elsewhere, a moment ago?
    if (!has(await queries.fetchQuery({ ...projectsQuery, staleTime: 0 }))) throw notFound();
  },
});
const agents = createRoute({
  path: "/agents",
  getParentRoute: () => project,
  component: lazyRouteComponent(() => import("./pages/AgentsPage.tsx"), "AgentsPage"),
});
const agent = createRoute({
  path: "/agents/$agentId",
  getParentRoute: () => project,
  beforeLoad: ({ params, location }) => {
    if (location.pathname === `/projects/${params.projectId}/agents/${params.agentId}`) {
      throw redirect({ to: "/projects/$projectId/agents/$agentId/traces", params });
    }
  },
  loader: async ({ context, params }) => {
    const agent = await context.queries.ensureQueryData(agentQuery(params.agentId));
    if (agent.projectId !== params.projectId) throw notFound();
  },
  component: lazyRouteComponent(() => import("./pages/AgentLayout.tsx"), "AgentLayout"),
});
const traces = createRoute({
  path: "/traces",
  getParentRoute: () => agent,
  validateSearch: textsOf(...traceSearch),
  component: lazyRouteComponent(() => import("./pages/TracesPage.tsx"), "TracesPage"),
});
const trace = createRoute({
  path: "/traces/$traceId",
  getParentRoute: () => agent,
  validateSearch: textsOf("view", "span", "attribute", "test", "check", "run", "find", "only", "quote"),
  component: lazyRouteComponent(() => import("./pages/TracePage.tsx"), "TracePage"),
});
const tests = createRoute({
  path: "/tests",
  getParentRoute: () => agent,
  validateSearch: textsOf("text", "status", "behavior", "last", "sort"),
  component: lazyRouteComponent(() => import("./pages/TestsPage.tsx"), "TestsPage"),
});
// `testId` "new" is one that is not saved yet. The rest of the address drafts from a trace, or from a value in it.
const test = createRoute({
  path: "/tests/$testId",
  getParentRoute: () => agent,
  validateSearch: textsOf("template", "trace", "span", "attribute", "path", "view", "inputs"),
  component: lazyRouteComponent(() => import("./pages/TestPage.tsx"), "TestPage"),
});
const testResults = createRoute({
  path: "/tests/$testId/results",
  getParentRoute: () => agent,
  validateSearch: textsOf("kind", "outcome", "from", "to"),
  component: lazyRouteComponent(() => import("./pages/TestResultsPage.tsx"), "TestResultsPage"),
});
const runs = createRoute({
  path: "/runs",
  getParentRoute: () => agent,
  component: lazyRouteComponent(() => import("./pages/RunsPage.tsx"), "RunsPage"),
});
const launch = createRoute({
  path: "/runs/$launchId",
  getParentRoute: () => agent,
  validateSearch: textsOf("only"),
  component: lazyRouteComponent(() => import("./pages/LaunchPage.tsx"), "LaunchPage"),
});
const run = createRoute({
  path: "/runs/$launchId/$runId",
  getParentRoute: () => agent,
  component: lazyRouteComponent(() => import("./pages/RunPage.tsx"), "RunPage"),
});
const insights = createRoute({
  path: "/insights",
  getParentRoute: () => agent,
  validateSearch: textsOf("by", "range", "from", "to", "interval", "testId", "form"),
  component: lazyRouteComponent(() => import("./pages/InsightsPage.tsx"), "InsightsPage"),
});
const start = createRoute({
  path: "/start",
  getParentRoute: () => agent,
  validateSearch: textsOf("tab"),
  component: lazyRouteComponent(() => import("./pages/StartPage.tsx"), "StartPage"),
});
const agentSettings = createRoute({
  path: "/settings",
  getParentRoute: () => agent,
  component: lazyRouteComponent(() => import("./pages/AgentSettingsPage.tsx"), "AgentSettingsPage"),
});
const judging = createRoute({
  path: "/judging",
  getParentRoute: () => agent,
  validateSearch: textsOf("days"),
  component: lazyRouteComponent(() => import("./pages/JudgingPage.tsx"), "JudgingPage"),
});
const ingestion = createRoute({
  path: "/ingestion",
  getParentRoute: () => project,
  validateSearch: textsOf("code", "key", "service", "time"),
  component: lazyRouteComponent(() => import("./pages/IngestionPage.tsx"), "IngestionPage"),
});
const keys = createRoute({
  path: "/keys",
  getParentRoute: () => project,
  component: lazyRouteComponent(() => import("./pages/KeysPage.tsx"), "KeysPage"),
});
const projectSettings = createRoute({
  path: "/settings",
  getParentRoute: () => project,
  component: lazyRouteComponent(() => import("./pages/ProjectPage.tsx"), "ProjectPage"),
});
const projectJudge = createRoute({
  path: "/settings/judge",
  getParentRoute: () => project,
  component: lazyRouteComponent(() => import("./pages/ProjectJudgePage.tsx"), "ProjectJudgePage"),
});
const projectPrices = createRoute({
  path: "/settings/prices",
  getParentRoute: () => project,
  component: lazyRouteComponent(() => import("./pages/ProjectPricesPage.tsx"), "ProjectPricesPage"),
});

const routeTree = root.addChildren([
  guest.addChildren([signIn, signUp, forgotPassword]),
  verifyEmail,
  resetPassword,
  member.addChildren([
    home,
    settings.addChildren([
      settingsProfile,
      settingsSessions,
      settingsTokens,
      settingsJudge,
      settingsRetention,
      settingsAppearance,
      settingsShortcuts,
    ]),
    project.addChildren([
      agents,
      agent.addChildren([
        traces,
        trace,
        tests,
        test,
        testResults,
        runs,
        launch,
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
      projectPrices,
    ]),
    unknown,
  ]),
]);

function RouteFailed({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const failure = failureOf(error);
  if (failure.code === "NOT_FOUND") return <NotFound />;
  const retry = () => {
    reset();
    void router.invalidate();
  };
  return (
    <>
      <Title text="Error" />
      <ErrorState failure={failure} onRetry={retry} whole />
    </>
  );
}
