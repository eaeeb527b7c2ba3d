// Saving and deleting views of the list of traces.
import type { SavedView } from "../../src/http/traces/view-schemas.ts";
import { type Answer, ask, remove } from "../api.ts";
import type { TraceSearch } from "../queries/trace-search.ts";

export type ViewDraft = { name: string; search: TraceSearch };

/** A view of this name gets the new filters. */
export const saveView = (agentId: string, body: ViewDraft): Promise<Answer<SavedView>> =>
  ask("POST", `/api/agents/${agentId}/trace-views`, { body });

export const deleteView = (id: string) => remove(`/api/trace-views/${id}`);
