// The columns of a trace that are derived from its spans, as statements write them.
import type { TraceColumns } from "../../model/trace/columns.ts";
import type { Column } from "../multi-row.ts";

export const derivedColumns = {
  name: ["text", ({ columns }) => columns.name],
  duration_ms: ["float8", ({ columns }) => columns.durationMs],
  http_status: ["int", ({ columns }) => columns.httpStatus],
  input_tokens: ["bigint", ({ columns }) => columns.inputTokens],
  output_tokens: ["bigint", ({ columns }) => columns.outputTokens],
  reasoning_tokens: ["bigint", ({ columns }) => columns.reasoningTokens],
  failed: ["bool", ({ columns }) => columns.failed],
  span_count: ["int", ({ columns }) => columns.spanCount],
  user_input: ["text", ({ columns }) => columns.userInput],
  response_text: ["text", ({ columns }) => columns.responseText],
} satisfies Record<string, Column<{ columns: TraceColumns }>>;

const names = Object.keys(derivedColumns);

/** For an insert and its select. */
export const derivedNames = names.join(", ");

/** For an update from a multi-row `item`. */
export const derivedAssignments = names.map(name => `${name} = item.${name}`).join(", ");
