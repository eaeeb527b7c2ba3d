// Queries for labels of the judge's answers, and for how well it agrees with them.
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { Page } from "../../src/http/frame/schemas.ts";
import type { JudgeAgreement } from "../../src/http/judge/agreement-schemas.ts";
import type { Label, ListedLabel } from "../../src/http/judge/label-schemas.ts";
import { read } from "../api.ts";

export const runLabelsQuery = (runId: string) =>
  queryOptions({
    queryKey: ["labels", "run", runId],
    queryFn: ({ signal }) => read<{ items: Label[] }>(`/api/runs/${runId}/labels`, signal),
  });

export type LabelScope = { projectId: string; agentId?: string | undefined; testId?: string | undefined };

export const agreementQuery = ({ projectId, ...scope }: LabelScope) =>
  queryOptions({
    queryKey: ["labels", "agreement", projectId, scope],
    queryFn: ({ signal }) =>
      read<JudgeAgreement>(`/api/projects/${projectId}/agreement?${queryOf(scope)}`, signal),
  });

/** Newest first. `wrong`: those that the judge does not agree with; `disputed`: those that other people label differently. */
export const labelsQuery = ({ projectId, ...scope }: LabelScope, which: "wrong" | "disputed") =>
  infiniteQueryOptions({
    queryKey: ["labels", "list", projectId, scope, which],
    initialPageParam: "",
    queryFn: ({ signal, pageParam }) => {
      const query = queryOf({
        ...scope,
        ...(which === "wrong" ? { agrees: "false" } : { disputed: "true" }),
        cursor: pageParam || undefined,
      });
      return read<Page<ListedLabel>>(`/api/projects/${projectId}/labels?${query}`, signal);
    },
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    select: ({ pages }) => pages.flatMap(({ items }) => items),
  });

export function queryOf(values: Record<string, string | undefined>): URLSearchParams {
  return new URLSearchParams(
    Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
