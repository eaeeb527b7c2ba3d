// Deleting and exporting traces, and setting where their failed results stand.
import type { DeletedTraces, ResultStateView } from "../../src/http/traces/schemas.ts";
import { type Answer, ask, askFile, remove } from "../api.ts";

export const deleteTrace = (id: string) => remove(`/api/traces/${id}`);

/** How many traces one request deletes, exports or evaluates again; the API's limit. */
export const bulkMax = 1_000;

export const deleteTraces = (agentId: string, traceIds: readonly string[]): Promise<Answer<DeletedTraces>> =>
  ask("POST", `/api/agents/${agentId}/traces/delete`, { body: { traceIds } });

export const exportFormats = {
  jsonl: { label: "JSON lines (whole traces)", type: "application/jsonl" },
  csv: { label: "CSV (shortened texts)", type: "text/csv" },
} as const;
export type ExportFormat = keyof typeof exportFormats;

export const exportTraces = (agentId: string, traceIds: readonly string[], format: ExportFormat) =>
  askFile(`/api/agents/${agentId}/traces/export`, { traceIds, format });

export const saveResultState = (
  traceId: string,
  body: Omit<ResultStateView, "updatedAt">,
): Promise<Answer<ResultStateView>> => ask("PUT", `/api/traces/${traceId}/result-states`, { body });
