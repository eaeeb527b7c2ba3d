// The telemetry of Claude Code and its Agent SDK, 2.x: question and tools on spans, reply and arguments in log records.
import { isRecord, textOrNone } from "../../model/record.ts";
import type { Attributes, LogRecord, Span } from "../../model/trace/trace.ts";
import { attributeOf } from "../span/conversation.ts";
import { fieldsOf, nameOf } from "../span/message-events.ts";
import { messagesIn } from "../span/messages.ts";
import { preset } from "../span/table.ts";
import { decode } from "../span/values.ts";

const roles = { interaction: "agent", llm_request: "model", tool: "tool" } as const;

export const claudeCode = preset({
  name: "claude_code",
  title: "Claude Code",
  writes:
    "The telemetry of Claude Code and the Claude Agent SDK. Replies and arguments are in its log records.",
  marks: [],
  scope: /^com\.anthropic\.claude_code/,
  signs: [{ scope: "com.anthropic.claude_code.tracing", attributes: { user_prompt: ["input"] } }],
  contentSwitches: [
    {
      says: "It writes prompts, replies and values of tools only if these variables are set, and replies as log records.",
      lines: [
        "OTEL_LOG_USER_PROMPTS=1",
        "OTEL_LOG_TOOL_DETAILS=1",
        "OTEL_LOG_TOOL_CONTENT=1",
        "OTEL_LOGS_EXPORTER=otlp",
      ],
      logRecords: true,
    },
  ],
  kinds: {
    attribute: "span.type",
    roles: { ...roles, "tool.blocked_on_user": "other", "tool.execution": "other" },
  },
  input: ["user_prompt"],
  toolName: ["gen_ai.tool.name", "tool_name"],
  toolId: ["gen_ai.tool.call.id", "tool_use_id"],
  toolArguments: ["tool_input"],
  toolResult: ["tool_output"],
  tellsCalls: true,
  mend: {
    asked: (asked, span) => asked ?? told(span, "user_prompt", "prompt", "user"),
    answered: (answered, span, role) => {
      if (answered || role === "model" || role === "tool") return answered;
      const reply = told(span, "assistant_response", "response", "assistant");
      const calls = callsIn(span);
      if (calls.length === 0) return reply;
      const called = messagesIn(
        { value: calls, spanId: span.span_id, attribute: "tool_result" },
        "assistant",
      );
      return reply && called ? { ...reply, value: [...called.value, ...reply.value] } : (reply ?? called);
    },
    tool: (tool, span) => {
      const event = span.events.find(one => isRecord(one) && one["name"] === "tool.output");
      const fields = isRecord(event) ? event["attributes"] : null;
      const value = isRecord(fields) ? fields["output"] : undefined;
      if (!tool || value === undefined) return tool;
      const { name, nameFrom, id } = tool;
      const made = { value, spanId: span.span_id, attribute: "tool.output" };
      return { name, nameFrom, id, arguments: tool.arguments, result: tool.result ?? made };
    },
    // That of the installation.
    userId: () => null,
  },
});

/** Whether the record is one of its events, whose names others may have as well. */
export function isClaudeEvent({ body }: LogRecord): boolean {
  return typeof body === "string" && body.startsWith("claude_code.");
}

function recordsOf(span: Span, name: string): Attributes[] {
  return (span.log_records ?? []).flatMap(record => (nameOf(record) === name ? [fieldsOf(record)] : []));
}

function told(span: Span, name: string, field: string, side: "user" | "assistant") {
  const value = recordsOf(span, name).at(-1)?.[field];
  return value === undefined || attributeOf(span, field) !== undefined
    ? null
    : messagesIn({ value, spanId: span.span_id, attribute: name }, side);
}

/** With what tools were given: their spans have the ids of the calls. */
function callsIn(span: Span): unknown[] {
  return recordsOf(span, "tool_result").map(fields => {
    const parameters = decode(fields["tool_parameters"]);
    const tool = isRecord(parameters) ? textOrNone(parameters["mcp_tool_name"]) : "";
    return {
      role: "assistant",
      tool_calls: [
        {
          id: fields["tool_use_id"],
          name: tool || textOrNone(fields["tool_name"]),
          arguments: fields["tool_input"] ?? null,
        },
      ],
    };
  });
}
