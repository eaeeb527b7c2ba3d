// What rules would read in a trace, before they are saved.
import type { Agent } from "../../src/http/projects/schemas.ts";
import type { TracePreview } from "../../src/http/traces/schemas.ts";
import { type Answer, ask } from "../api.ts";

export const previewRules = (
  traceId: string,
  conventionRules: Agent["conventionRules"],
): Promise<Answer<TracePreview>> =>
  ask("POST", `/api/traces/${traceId}/preview`, { body: { conventionRules } });
