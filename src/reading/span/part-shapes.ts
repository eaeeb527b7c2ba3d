// The names that SDKs give to the parts of a message, as data: a new shape is a new name in one of these lists.

/** Fields that name the type of a part, the first that has one counts. */
export const typeKeys = ["type", "block_type", "part_kind"];

export const textTypes = new Set(["", "text", "input_text", "output_text", "user-prompt", "system-prompt"]);
/** A structured text, sent as the value that it is. */
export const dataTypes = new Set(["json", "object", "structured", "data"]);
export const reasoningTypes = new Set([
  "reasoning",
  "reasoning_text",
  "reasoning_content",
  "thinking",
  "thought",
  "redacted_thinking",
  "summary_text",
]);

/** Where a part has its text. */
export const contentKeys = ["content", "text"];
/** Where it has reasoning: without a type, the key says that it is no text. */
export const reasoningKeys = [
  "thinking",
  "reasoning",
  "summary",
  "reasoning_content",
  "reasoningContent",
  "reasoningText",
];

export const callTypes = new Set([
  "tool_call",
  "tool-call",
  "tool_use",
  "function_call",
  "function",
  "server_tool_call",
  "server_tool_use",
  "custom_tool_call",
  "mcp_call",
  "mcp_tool_call",
  "mcp_tool_use",
  "local_shell_call",
  "shell_call",
  "computer_call",
  "apply_patch_call",
  "web_search_call",
  "file_search_call",
  "code_interpreter_call",
  "image_generation_call",
]);

export const resultTypes = new Set([
  "tool_call_response",
  "tool-result",
  "tool_result",
  "tool-return",
  "tool_response",
  "function_response",
  "function_call_output",
  "custom_tool_call_output",
  "mcp_tool_result",
  "local_shell_call_output",
  "shell_call_output",
  "computer_call_output",
  "apply_patch_call_output",
  "web_search_tool_result",
  "server_tool_call_response",
]);

/** Google, Amazon Bedrock, Haystack and Genkit name the part instead of giving it a type. */
export const innerCalls = new Set(["functionCall", "function_call", "toolUse", "tool_call", "toolRequest"]);
export const innerResults = new Set([
  "functionResponse",
  "function_response",
  "toolResult",
  "tool_call_result",
  "toolResponse",
]);

/** The id that results refer to goes first: the Responses API gives a call two. */
export const callIdKeys = [
  "call_id",
  "tool_call_id",
  "toolCallId",
  "tool_use_id",
  "toolUseId",
  "tool_id",
  "id",
  "ref",
];
export const callNameKeys = ["name", "tool_name", "toolName"];
export const argumentKeys = [
  "arguments",
  "input",
  "args",
  "tool_kwargs",
  "toolInput",
  "tool_input",
  "action",
  "server_tool_call",
];
export const resultKeys = ["response", "result", "output", "content", "server_tool_call_response"];

/** Keys with the calls of a message beside its content. */
export const callListKeys = ["tool_calls", "toolCalls"];

/** A call's type is its name where it has none: tools that the provider runs. */
export function nameOfType(type: string): string {
  return /^(\w+)_call$/.exec(type)?.[1] ?? "";
}
