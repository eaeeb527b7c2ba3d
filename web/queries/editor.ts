// Queries of the test case editor: vocabulary, validation and past traces.

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { Page } from "../../src/http/frame/schemas.ts";
import type { Vocabulary } from "../../src/http/test-cases/editor-schemas.ts";
import type { ListedTrace } from "../../src/http/traces/schemas.ts";
import type { RestsOn } from "../../src/model/judge/call.ts";
import type { Issue } from "../../src/model/refusal.ts";
import type { Ineligibility } from "../../src/model/test-case/eligibility.ts";
import { Failed, read } from "../api.ts";
import { findRestsOn, validateTest } from "../mutations/tests.ts";
import { pagesOf } from "./pages.ts";

export type Validated = { of: object } & (
  | { valid: true; eligibility: Ineligibility | null; warnings: Issue[] }
  | { valid: false; issues: Issue[] }
);

export const vocabularyQuery = (agentId: string) =>
  queryOptions({
    queryKey: ["agents", agentId, "vocabulary"],
    queryFn: ({ signal }) => read<Vocabulary>(`/api/agents/${agentId}/vocabulary`, signal),
    staleTime: 60_000,
  });

/** Whether the document could be saved. The previous result, of another document, stays until the new one arrives. */
export const validateQuery = (agentId: string, document: object) =>
  queryOptions({
    queryKey: ["agents", agentId, "validate", numberOf(document)],
    queryFn: async ({ signal }): Promise<Validated> => {
      const answer = await validateTest(agentId, document, { signal, isBackground: true });
      if (answer.ok) return { of: document, ...answer.value };
      if (answer.failure.code !== "VALIDATION_ERROR") throw new Failed(answer.failure);
      return {
        of: document,
        valid: false,
        issues: answer.failure.issues ?? [{ path: "", message: answer.failure.message }],
      };
    },
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    structuralSharing: false,
  });

const numbers = new WeakMap<object, number>();
let lastNumber = 0;

/** Keys are written as text at each rendering, and a document may have a million characters. */
function numberOf(document: object): number {
  const number = numbers.get(document) ?? ++lastNumber;
  numbers.set(document, number);
  return number;
}

/**
 * What the judge found that criteria rest on, by criterion; null: it was not sure. Criteria that it was not asked about are
 * missing.
 */
export const restsOnQuery = (agentId: string, criteria: string[]) =>
  queryOptions({
    queryKey: [...restsOnKey(agentId), criteria],
    queryFn: async ({ signal }): Promise<KnownRestsOn> => {
      const answer = await findRestsOn(agentId, criteria, signal);
      if (!answer.ok) throw new Failed(answer.failure);
      return new Map(answer.value.items.map(({ criterion, restsOn }) => [criterion, restsOn]));
    },
    enabled: criteria.length > 0,
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });

export const restsOnKey = (agentId: string) => ["agents", agentId, "rests-on"];

export type KnownRestsOn = ReadonlyMap<string, RestsOn | null>;

const foundMax = 20;

/** Past traces to try a test on: the latest, or those that contain the text or have it as their external ID. */
export const pastTracesQuery = (agentId: string, text: string) =>
  queryOptions({
    queryKey: ["agents", agentId, "past-traces", text],
    queryFn: async ({ signal }): Promise<ListedTrace[]> => {
      const list = async (filter: Record<string, string>) => {
        const query = new URLSearchParams({ limit: String(foundMax), ...filter });
        return (await read<Page<ListedTrace>>(`/api/agents/${agentId}/traces?${query}`, signal)).items;
      };
      if (text === "") return list({});
      const [named, containing] = await Promise.all([list({ externalId: text }), list({ text })]);
      return [...named, ...containing.filter(({ id }) => named.every(one => one.id !== id))];
    },
    placeholderData: keepPreviousData,
  });

/** Live traces to take inputs from, newest first: all, or those that contain the text. */
export const liveTracesQuery = (agentId: string, text: string) => {
  const query = new URLSearchParams({ kind: "live", ...(text !== "" && { text }) });
  return {
    ...pagesOf<ListedTrace>(
      ["agents", agentId, "live-traces", text],
      `/api/agents/${agentId}/traces?${query}`,
      50,
    ),
    placeholderData: keepPreviousData,
  };
};
