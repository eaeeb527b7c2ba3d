// Everything the dashboard reads, each with its key; what a key begins with is what invalidates it.
import { infiniteQueryOptions, QueryCache, QueryClient, queryOptions } from "@tanstack/react-query";
import type { LinkState } from "../src/model/account.ts";
import type { Agent } from "../src/model/agent.ts";
import type { Project } from "../src/model/project.ts";
import { ask, Failed, read } from "./api.ts";
import type { Key, ListedTrace, Page, Session, SignedIn, Verification } from "./shapes.ts";

/** `onSignedOut` is told when an answer says that there is no session any more. */
export function makeQueryClient(onSignedOut: () => void): QueryClient {
  const isFailure = (error: unknown, ...codes: string[]) =>
    error instanceof Failed && codes.includes(error.failure.code);
  return new QueryClient({
    queryCache: new QueryCache({
      onError: error => {
        if (isFailure(error, "UNAUTHORIZED")) onSignedOut();
      },
    }),
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        retry: (failed, error) => failed < 2 && isFailure(error, "OFFLINE", "UNAVAILABLE"),
        retryDelay: 1_000,
      },
    },
  });
}

/** Who is signed in; null: nobody. */
export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: ({ signal }) => read<SignedIn | null>("/api/auth/get-session", signal),
  staleTime: 60_000,
});

export const sessionsQuery = queryOptions({
  queryKey: ["sessions"],
  queryFn: ({ signal }) => read<Session[]>("/api/auth/list-sessions", signal),
});

export const verificationQuery = queryOptions({
  queryKey: ["verification"],
  queryFn: ({ signal }) => read<Verification>("/api/verification", signal),
});

/** What confirming the link of a verification mail would find. */
export const linkQuery = (token: string) =>
  queryOptions({
    queryKey: ["verification-link", token],
    queryFn: async ({ signal }) => {
      const answer = await ask<{ state: LinkState }>("POST", "/api/verification/link", {
        body: { token },
        signal,
      });
      if (answer.ok) return answer.value;
      throw new Failed(answer.failure);
    },
  });

/** The first 200: more than anyone switches between. */
export const projectsQuery = queryOptions({
  queryKey: ["projects"],
  queryFn: ({ signal }) => read<Page<Project>>("/api/projects?limit=200", signal),
  select: ({ items }) => items,
  staleTime: 30_000,
});

export const agentsQuery = (projectId: string) =>
  pagesOf<Agent>(["projects", projectId, "agents"], `/api/projects/${projectId}/agents`, 200);

export const agentQuery = (id: string) =>
  queryOptions({
    queryKey: ["agents", id],
    queryFn: ({ signal }) => read<Agent>(`/api/agents/${id}`, signal),
  });

export const keysQuery = (projectId: string) =>
  pagesOf<Key>(["projects", projectId, "keys"], `/api/projects/${projectId}/keys`, 50);

/** The agent's latest trace; null: none yet. */
export const lastTraceQuery = (agentId: string) =>
  queryOptions({
    queryKey: ["agents", agentId, "last-trace"],
    queryFn: async ({ signal }) => {
      const { items } = await read<Page<ListedTrace>>(`/api/agents/${agentId}/traces?limit=1`, signal);
      return items[0] ?? null;
    },
  });

export const recentMax = 50;

/** How many traces came by OTLP within a day, as far as `recentMax`: who would notice another service name. */
export const recentOtlpQuery = (agentId: string) =>
  queryOptions({
    queryKey: ["agents", agentId, "recent-otlp"],
    queryFn: async ({ signal }) => {
      const since = new Date(Date.now() - 86_400_000).toISOString();
      const query = new URLSearchParams({ path: "otlp", receivedFrom: since, limit: String(recentMax) });
      const { items } = await read<Page<ListedTrace>>(`/api/agents/${agentId}/traces?${query}`, signal);
      return items.length;
    },
  });

/** A list that grows page by page; its data are the items of all the pages so far. */
function pagesOf<T>(queryKey: readonly string[], path: string, limit: number) {
  return infiniteQueryOptions({
    queryKey,
    queryFn: ({ signal, pageParam }) => {
      const query = new URLSearchParams({ limit: String(limit), ...(pageParam && { cursor: pageParam }) });
      return read<Page<T>>(`${path}?${query}`, signal);
    },
    initialPageParam: "",
    getNextPageParam: page => page.nextCursor,
    select: ({ pages }) => pages.flatMap(({ items }) => items),
  });
}
