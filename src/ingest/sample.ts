// A sample conversation as a canonical trace, marked as a sample, with data for every type of assertion.

/** Its last span ended at `nowMs`. */
export function sampleBody(agentId: string, nowMs: number): object {
  const span = (
    id: string,
    parent: string | null,
    name: string,
    [startMs, endMs]: [number, number],
    attributes: Record<string, unknown>,
  ) => ({
    span_id: id,
    parent_span_id: parent,
    name,
    start_time_unix_nano: `${nowMs - lengthMs + startMs}000000`,
    end_time_unix_nano: `${nowMs - lengthMs + endMs}000000`,
    attributes: { ...attributes, "svc.sample": true },
    status: { code: 1 },
  });
  return {
    platformId: agentId,
    metadata: { sample: true },
    spans: [
      span("sample-1", null, "Sample conversation", [0, lengthMs], {
        "http.request.method": "POST",
        "http.route": "/chat",
        "http.response.status_code": 200,
      }),
      span("sample-2", "sample-1", "Look up the order", [60, 340], {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "lookup_order",
        "gen_ai.tool.call.id": "call-1",
        "gen_ai.tool.call.arguments": lookUp,
        "gen_ai.tool.call.result": found,
      }),
      span("sample-3", "sample-1", "Compose the answer", [360, lengthMs - 20], {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "sample-model",
        // With the call and its result, so that the question stands before the call, whose span is the earlier one.
        "gen_ai.input.messages": [
          said("user", "Where is my order A-1042?"),
          message("assistant", { type: "tool_call", id: "call-1", name: "lookup_order", arguments: lookUp }),
          message("tool", { type: "tool_call_response", id: "call-1", response: found }),
        ],
        "gen_ai.output.messages": [
          said("assistant", "It left our warehouse this morning and should be with you on Thursday."),
        ],
        "gen_ai.usage.input_tokens": 412,
        "gen_ai.usage.output_tokens": 18,
      }),
    ],
  };
}

const lengthMs = 1_400;
const lookUp = { order_id: "A-1042" };
const found = { status: "shipped", arrives: "Thursday" };

function message(role: string, part: object) {
  return { role, parts: [part] };
}

function said(role: string, content: string) {
  return message(role, { type: "text", content });
}
