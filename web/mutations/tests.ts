// Changes to test cases, and what the editor tries without storing anything.
import type {
  DraftedAssertion,
  DryRun,
  KnownClasses,
  ScenarioTrial,
  TraceInputs,
} from "../../src/http/test-cases/editor-schemas.ts";
import type { ListedTest, TestDocument, ValidatedTest } from "../../src/http/test-cases/schemas.ts";
import { type Answer, ask, remove } from "../api.ts";
import type { ValuePath } from "../value-path.ts";

export const createTest = (agentId: string, body: unknown): Promise<Answer<ListedTest>> =>
  ask("POST", `/api/agents/${agentId}/tests`, { body });

export const replaceTest = (id: string, body: unknown): Promise<Answer<ListedTest>> =>
  ask("PUT", `/api/tests/${id}`, { body });

export const setTestStatus = (id: string, status: ListedTest["status"]): Promise<Answer<ListedTest>> =>
  ask("PATCH", `/api/tests/${id}`, { body: { status } });

export const setTestInputs = (
  id: string,
  inputs: readonly string[],
  draftedFrom: string | string[],
): Promise<Answer<ListedTest>> =>
  ask("PATCH", `/api/tests/${id}`, { body: { inputs: inputs.map(input => ({ input })), draftedFrom } });

/** All or none of at most 1,000. */
export const setTestStatuses = (agentId: string, testIds: string[], status: ListedTest["status"]) =>
  ask("POST", `/api/agents/${agentId}/tests/status`, { body: { testIds, status } });

export const deleteTest = (id: string) => remove(`/api/tests/${id}`);

/** Whether the document could be saved. */
export const validateTest = (
  agentId: string,
  body: unknown,
  how?: { signal: AbortSignal; isBackground: true },
): Promise<Answer<ValidatedTest>> => ask("POST", `/api/agents/${agentId}/tests/validate`, { body, ...how });

/** What the judge found earlier that criteria rest on; asks nothing. */
export const findRestsOn = (
  agentId: string,
  criteria: string[],
  signal: AbortSignal,
): Promise<Answer<KnownClasses>> =>
  ask("POST", `/api/agents/${agentId}/tests/rests-on`, { body: { criteria }, signal, isBackground: true });

/** Throws when aborted. */
export const dryRun = (agentId: string, body: object, signal: AbortSignal): Promise<Answer<DryRun>> =>
  ask("POST", `/api/agents/${agentId}/tests/dry-run`, { body, signal });

/** Throws when aborted. */
export const tryScenario = (
  agentId: string,
  body: { scenario: string; estimate: boolean },
  signal: AbortSignal,
): Promise<Answer<ScenarioTrial>> =>
  ask("POST", `/api/agents/${agentId}/tests/try-scenario`, { body, signal });

/** The whole user inputs of at most 100 traces. */
export const readTraceInputs = (agentId: string, traceIds: readonly string[]): Promise<Answer<TraceInputs>> =>
  ask("POST", `/api/agents/${agentId}/tests/trace-inputs`, { body: { traceIds } });

export const draftTest = (traceId: string): Promise<Answer<TestDocument>> =>
  ask("POST", `/api/traces/${traceId}/draft-test`);

/** A value of a span; `attribute` null is the span itself. */
export type DraftPlace = { spanId: string; attribute: string | null; path: ValuePath };

/** An assertion that fits the value and passes on the trace. */
export const draftAssertion = (
  traceId: string,
  body: DraftPlace,
  signal?: AbortSignal,
): Promise<Answer<DraftedAssertion>> =>
  ask("POST", `/api/traces/${traceId}/draft-assertion`, { body, ...(signal && { signal }) });
