// The router over every address of the dashboard; each page is loaded when it is first opened.
import type { QueryClient } from "@tanstack/react-query";
import {
  createRoute,
  createRouter,
  type ErrorComponentProps,
  redirect,
  useRouter,
} from "@tanstack/react-router";
import { failureOf } from "./api.ts";
import { projectsQuery } from "./queries/projects.ts";
import { fromMails, guests, member, root } from "./routes/entrance.ts";
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

const routeTree = root.addChildren([
  guests,
  ...fromMails,
  member.addChildren([home, settingsTree, projectTree, unknown]),
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
