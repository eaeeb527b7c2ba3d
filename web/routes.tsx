// Router with every URL of the dashboard. Pages are loaded when first opened.
import type { QueryClient } from "@tanstack/react-query";
import {
  createRoute,
  createRouter,
  type ErrorComponentProps,
  redirect,
  useRouter,
} from "@tanstack/react-router";
import { failureOf, isLoadError } from "./api.ts";
import { projectsQuery } from "./queries/projects.ts";
import { emailRoutes, member, root, signedOutRoutes } from "./routes/accounts.ts";
import { projectTree } from "./routes/project.ts";
import { settingsTree } from "./routes/settings.ts";
import { NotFound } from "./shell/NotFound.tsx";
import { lastProject } from "./shell/project.ts";
import { ErrorState, Skeleton } from "./ui/State.tsx";
import { Title } from "./ui/Title.tsx";

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
    // Values stay strings: the default would parse an id or token of digits as a number.
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

const home = createRoute({
  path: "/",
  getParentRoute: () => member,
  beforeLoad: async ({ context }) => {
    const { items } = await context.queries.ensureQueryData(projectsQuery);
    const project = items.find(({ id }) => id === lastProject.get()) ?? items.at(-1)!;
    throw redirect({ to: "/projects/$projectId/agents", params: { projectId: project.id } });
  },
});
// Any other URL.
const unknown = createRoute({ path: "$", getParentRoute: () => member, component: NotFound });

const routeTree = root.addChildren([
  signedOutRoutes,
  ...emailRoutes,
  member.addChildren([home, settingsTree, projectTree, unknown]),
]);

function RouteFailed({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const failure = failureOf(error);
  if (failure.code === "NOT_FOUND") return <NotFound />;
  const retry = () => {
    if (isLoadError(error)) {
      void reloadIfReachable();
      return;
    }
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

/**
 * A stylesheet that failed is not fetched again without a reload. While the service is away, a reload would end at the
 * browser's error page.
 */
async function reloadIfReachable(): Promise<void> {
  const isReachable = await fetch("/", { method: "HEAD" }).then(
    () => true,
    () => false,
  );
  if (isReachable) location.reload();
}
