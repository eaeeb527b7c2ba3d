// The names of what SDKs put around messages, and of the texts that stand for a message, as data.

/** Objects and lists that hold messages, the first that is there counts. */
export const wrappers = [
  "messages",
  "choices",
  "candidates",
  "replies",
  "generations",
  "contents",
  "update",
  "newMessages",
  "output",
  "outputs",
  "input",
  "inputs",
  "response",
  "result",
  "items",
  "value",
];

/** Texts that a user may have said. */
export const askedNames = [
  "question",
  "input",
  "query",
  "prompt",
  "task",
  "text",
  "user_input",
  "userInput",
  "user_msg",
  "message",
  "q",
];

/** Texts that may be a reply. */
export const answeredNames = [
  "answer",
  "output",
  "response",
  "result",
  "text",
  "reply",
  "final_answer",
  "content",
  "completion",
  "raw",
];

/** What may stand beside the text of a reply and is no part of it. */
export const besides = new Set([
  "type",
  "id",
  "role",
  "name",
  "messages",
  "chat_history",
  "history",
  "intermediate_steps",
  "sources",
  "source_documents",
  "documents",
  "context",
  "files",
  "warnings",
  "metadata",
  "meta",
  "usage",
  "usage_metadata",
  "finishReason",
  "finish_reason",
  "stop_reason",
  "steps",
  "session_id",
  "sessionId",
  "thread_id",
  "conversation_id",
  "run_id",
  "runId",
  "is_error",
  "status",
  // How it was reached, as DSPy's predictions and other programs that reason in steps tell it.
  "reasoning",
  "rationale",
  "trajectory",
  "thought",
  "thoughts",
  "thinking",
]);

/** Fields of an answer as a provider or a framework sends it: without a text in it there is no reply. */
export const envelopes = new Set([
  "choices",
  "candidates",
  "generations",
  "messages",
  "replies",
  "update",
  "lc",
  "usage",
  "usageMetadata",
  "usage_metadata",
  "response_metadata",
  "output_type",
  "error",
  "args",
  "kwargs",
  "tool_calls",
  "toolCalls",
  "role",
  "parts",
]);

export const roles = new Set([
  "system",
  "developer",
  "user",
  "human",
  "assistant",
  "ai",
  "model",
  "tool",
  "function",
  "AIMessageChunk",
]);
