// The columns of a trace that are derived from its spans, as statements write them.

import { nameSeparator, type TraceColumns } from "../../model/trace/columns.ts";
import type { Column } from "../multi-row.ts";
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
  span_count: ["int", ({ columns }) => columns.spanCount],
  user_input: ["text", ({ columns }) => columns.userInput],
  response_text: ["text", ({ columns }) => columns.responseText],
  tools: ["text", ({ columns }) => columns.tools.join(nameSeparator)],
  models: ["text", ({ columns }) => columns.models.join(nameSeparator)],
  providers: ["text", ({ columns }) => columns.providers.join(nameSeparator)],
  usage: ["text", ({ columns }) => columns.usage],
} satisfies Record<string, Column<{ columns: TraceColumns }>>;

const names = Object.keys(derivedColumns);
const separator = `E'\\x${nameSeparator.charCodeAt(0).toString(16)}'`;

const lists = ["tools", "models", "providers"];
const sqlOf = (name: string) =>
  lists.includes(name) ? `string_to_array(item.${name}, ${separator})` : `item.${name}`;

/** For an insert, and for its select from a multi-row `item`. */
export const derivedNames = names.join(", ");
export const derivedValues = names.map(sqlOf).join(", ");

/** For an update from a multi-row `item`. */
export const derivedAssignments = names.map(name => `${name} = ${sqlOf(name)}`).join(", ");

/** The conventions that the columns were derived with. */
export const conventionsOf = ({ conventions = [] }: TraceWrite): string => conventions.join(" ");

/** Whether the agent's conventions are others than these, as `conventionsOf` writes them: they changed meanwhile. */
export const hasOtherConventions = (agentId: string, conventions: string): string =>
  `exists (select from agents where agents.id = ${agentId} and array_to_string(agents.conventions, ' ') <> ${conventions})`;

/** Whether an update from `traces old` leaves out no tool, model or provider. */
export const keepsNames = lists.map(name => `coalesce(old.${name} <@ traces.${name}, true)`).join(" and ");
