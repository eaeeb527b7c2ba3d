// Keeps the key that was created on Get started in memory, since it is shown only once: until sign-out, revocation or reload.
import { type QueryClient, skipToken, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import type { CreatedKey } from "../../../src/http/projects/schemas.ts";

/** `agentId`: on whose page the key was created. `copied`: also as part of a snippet. */
type Kept = { created: CreatedKey; agentId: string; copied: boolean };

const keptKey = (projectId: string) => ["created-key", projectId];

export type CreatedKeyState = {
  created: CreatedKey | undefined;
  keep: (created: CreatedKey) => void;
  onCopied: () => void;
};

/** The key to fill in for this agent. Until it is copied, the browser asks before the tab is closed or reloaded. */
export function useCreatedKey(projectId: string, agentId: string): CreatedKeyState {
  const queries = useQueryClient();
  const queryKey = keptKey(projectId);
  const { data: kept } = useQuery<Kept>({
    queryKey,
    queryFn: skipToken,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  });
  const here = kept && (kept.agentId === agentId || canWrite(kept.created, agentId)) ? kept : undefined;
  const warn = here?.copied === false;
  useEffect(() => {
    if (!warn) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, [warn]);
  return {
    created: here?.created,
    keep: created => queries.setQueryData<Kept>(queryKey, { created, agentId, copied: false }),
    onCopied: () => queries.setQueryData<Kept>(queryKey, now => now && { ...now, copied: true }),
  };
}

/** After the key with this ID is revoked. */
export function forgetCreatedKey(queries: QueryClient, projectId: string, id: string): void {
  const queryKey = keptKey(projectId);
  if (queries.getQueryData<Kept>(queryKey)?.created.id === id) queries.removeQueries({ queryKey });
}

export function canWrite(
  { access, agentIds }: Pick<CreatedKey, "access" | "agentIds">,
  agentId: string,
): boolean {
  return access === "full" || agentIds.includes(agentId);
}
