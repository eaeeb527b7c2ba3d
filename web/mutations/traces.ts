// Deleting traces, and setting where their failed results stand.
import type { ResultStateView } from "../../src/http/traces/schemas.ts";
import { type Answer, ask, remove } from "../api.ts";

export const deleteTrace = (id: string) => remove(`/api/traces/${id}`);

export const saveResultState = (
  traceId: string,
  body: Omit<ResultStateView, "updatedAt">,
): Promise<Answer<ResultStateView>> => ask("PUT", `/api/traces/${traceId}/result-states`, { body });
