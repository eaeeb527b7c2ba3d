// The attributes that the columns of a trace are derived from, without rules and by no convention with names of its own.
import { openTelemetry } from "../presets/opentelemetry.ts";

/** `columnsOf` derives the same from spans that have no others, unless a convention with other names recognizes one. */
export const columnAttributes: ReadonlySet<string> = new Set([
  ...openTelemetry.attributes,
  ...openTelemetry.marks,
  "gen_ai.prompt",
  "gen_ai.response.id",
  "http.response.status_code",
  "http.route",
  "http.target",
  "mcp.method.name",
  "url.path",
]);

/** Those of them whose texts are long. */
export const longTextAttributes: ReadonlySet<string> = new Set([
  "gen_ai.completion",
  "gen_ai.input.messages",
  "gen_ai.output",
  "gen_ai.output.messages",
  "gen_ai.prompt",
  "gen_ai.response.text",
  "gen_ai.tool.args",
  "gen_ai.tool.call.arguments",
  "gen_ai.tool.call.result",
]);
