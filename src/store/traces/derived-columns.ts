// The columns of a trace that are derived from its spans, as statements write them.

import { nameSeparator } from "../../model/trace/storable.ts";
import type { TraceColumns } from "../../reading/derived/columns.ts";
import { readByKey } from "../accounts/read-by-key.ts";
import type { Column } from "../parameters/multi-row.ts";
import type { TraceWrite } from "./write.ts";

export const derivedColumns = {
  name: ["text", ({ columns }) => columns.name],
  duration_ms: ["float8", ({ columns }) => columns.durationMs],
  http_status: ["int", ({ columns }) => columns.httpStatus],
  input_tokens: ["bigint", ({ columns }) => columns.inputTokens],
  output_tokens: ["bigint", ({ columns }) => columns.outputTokens],
  reasoning_tokens: ["bigint", ({ columns }) => columns.reasoningTokens],
  cached_tokens: ["bigint", ({ columns }) => columns.cachedTokens],
  failed: ["bool", ({ columns }) => columns.failed],
  noise: ["text", ({ columns }) => columns.noise],
  span_count: ["int", ({ columns }) => columns.spanCount],
  user_input: ["text", ({ columns }) => columns.userInput],
  response_text: ["text", ({ columns }) => columns.responseText],
  tools: ["text", ({ columns }) => columns.tools.join(nameSeparator)],
  models: ["text", ({ columns }) => columns.models.join(nameSeparator)],
  providers: ["text", ({ columns }) => columns.providers.join(nameSeparator)],
  redacted: ["text", ({ columns }) => columns.redacted.join(nameSeparator)],
  usage: ["text", ({ columns }) => columns.usage],
  conversation_id: ["text", ({ columns }) => columns.conversationId],
  user_id: ["text", ({ columns }) => columns.userId],
  turn_at: ["bigint", ({ columns }) => (columns.conversationId === null ? null : columns.startedAtUs)],
} satisfies Record<string, Column<{ columns: TraceColumns }>>;

const names = Object.keys(derivedColumns);
const separator = `E'\\x${nameSeparator.charCodeAt(0).toString(16)}'`;

/** Of a multi-row `item`, whose columns cannot be lists. */
export const listOf = (name: string): string => `string_to_array(item.${name}, ${separator})`;

const lists = ["tools", "models", "providers", "redacted"];
/** `receivedAt`: when the trace arrived, an expression. */
function sqlOf(name: string, receivedAt: string): string {
  // Of almost all traces there is nothing to store.
  if (name === "redacted") return `string_to_array(nullif(item.redacted, ''), ${separator})`;
  if (lists.includes(name)) return listOf(name);
  if (name !== "turn_at") return `item.${name}`;
  const arrival = `(extract(epoch from ${receivedAt}) * 1000000)::bigint`;
  return `case when item.conversation_id is not null then coalesce(item.turn_at, ${arrival}) end`;
}

/** For an insert, and for its select from a multi-row `item`. */
export const derivedNames = names.join(", ");
export const derivedValues = names.map(name => sqlOf(name, "now()")).join(", ");

/** For an update of `traces` from a multi-row `item`. */
export const derivedAssignments = names
  .map(name => `${name} = ${sqlOf(name, "traces.received_at")}`)
  .join(", ");

/** What the columns were derived with. */
export const conventionsOf = ({ readBy }: TraceWrite): string => (readBy ? readByKey(readBy) : "");

/** Whether the agent's rules or conventions are others than these, as `conventionsOf` writes them: they changed meanwhile. */
export const hasOtherConventions = (agentId: string, conventions: string): string =>
  `exists (select from agents where agents.id = ${agentId} and agents.read_by_key <> ${conventions})`;

/** Whether an update from `traces old` leaves out no tool, model, provider or rule. */
export const keepsNames = lists
  .map(name => `coalesce(old.${name} <@ coalesce(traces.${name}, '{}'), true)`)
  .join(" and ");
