// A shop's conversation as spans, and tests of every type of assertion that pass, fail or lack instrumentation on it.
type Fields = Record<string, unknown>;

const begin = 1_760_000_000_000_000_000n;
const at = (ms: number) => String(begin + BigInt(ms) * 1_000_000n);

export const said = "Your refund of 42.50 EUR for order A-10428 is on its way and arrives within three days.";
export const asked = "Please refund order A-10428, the boots leak.";

/** Root, model, two tools and a step; `root` adds attributes to the root. */
export function conversation(root: Fields = {}): Fields[] {
  return [
    {
      span_id: "root",
      name: "shop conversation",
      start_time_unix_nano: at(0),
      end_time_unix_nano: at(2_400),
      attributes: {
        "gen_ai.prompt": asked,
        "gen_ai.response.text": said,
        "gen_ai.usage.input_tokens": 812,
        "gen_ai.usage.output_tokens": 143,
        "http.response.status_code": 200,
        ...root,
      },
    },
    {
      span_id: "classify",
      parent_span_id: "root",
      name: "classify request",
      start_time_unix_nano: at(100),
      end_time_unix_nano: at(500),
      attributes: {
        "workflow.output": JSON.stringify({ category: "refund", priority: 9, order: { id: 10428 } }),
      },
    },
    {
      span_id: "look",
      parent_span_id: "root",
      name: "look up order",
      start_time_unix_nano: at(500),
      end_time_unix_nano: at(900),
      attributes: {
        "gen_ai.tool.name": "get_order",
        "gen_ai.tool.call.arguments": JSON.stringify({ order_id: "A-10428" }),
      },
    },
    {
      span_id: "refund",
      parent_span_id: "root",
      name: "refund",
      start_time_unix_nano: at(900),
      end_time_unix_nano: at(1_600),
      attributes: {
        "gen_ai.tool.name": "refund_order",
        "gen_ai.tool.call.arguments": JSON.stringify({
          order_id: "A-10428",
          amount: 42.5,
          currency: "EUR",
          notify: { email: true },
        }),
      },
    },
  ];
}

export const holding = [
  { id: "status", type: "http_status", expected_status: "2xx" },
  { id: "time", type: "response_time", max_ms: 5_000 },
  { id: "tokens", type: "token_limit", max_total: 2_000, max_output: 600 },
  { id: "step", type: "node_call", expected_name: "classify" },
  {
    id: "refund",
    type: "tool_call",
    description: "Refunds the order the customer named.",
    expected_name: "refund_order",
    expected_arguments: { order_id: { $regex: "^A-\\d{5}$" }, amount: { $lte: 50 }, currency: "EUR" },
  },
  { id: "says", type: "response_regex", pattern: "refund of \\d+\\.\\d\\d EUR" },
  {
    id: "category",
    type: "json_match",
    target_node: "classify",
    field: "workflow.output",
    expected_value: { priority: 9, category: "refund", order: { id: 10428 } },
  },
];

export const failing = [
  { id: "status", type: "http_status", expected_status: [400, 404] },
  { id: "time", type: "response_time", max_ms: 1_500 },
  { id: "tokens", type: "token_limit", max_total: 500, max_output: 100 },
  { id: "step", type: "node_call", expected_name: "clasify" },
  {
    id: "refund",
    type: "tool_call",
    description: "Refunds in dollars, and says why.",
    expected_name: "refund_order",
    expected_arguments: {
      order_id: "A-10428",
      currency: "USD",
      reason: { $exists: true },
      notify: { email: true, sms: true },
    },
  },
  { id: "name", type: "tool_call", expected_name: "refundOrder" },
  { id: "promises", type: "response_regex", pattern: "refund", flags: "i", negate: true },
  { id: "apology", type: "response_regex", pattern: "sorry|apolog", flags: "i" },
  {
    id: "schema",
    type: "json_schema",
    target_node: "classify",
    field: "workflow.output",
    schema: {
      type: "object",
      required: ["category", "language"],
      properties: {
        priority: { type: "integer", maximum: 5 },
        order: { type: "object", properties: { id: { type: "string" } } },
      },
    },
  },
  {
    id: "match",
    type: "json_match",
    target_node: "classify",
    field: "workflow.output",
    expected_value: { category: "return" },
  },
  { id: "nowhere", type: "json_match", target_node: "escalate", field: "to", expected_value: "desk" },
  { id: "after", type: "response_regex", pattern: "dollar", depends_on: "refund" },
];
