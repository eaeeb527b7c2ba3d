// Test data: traces with everything that the span panel and the conversation view show.
import { canonicalBody, canonicalSpan } from "../../support/bodies.ts";
import { send } from "../../support/send.ts";
import type { TestService } from "../../support/service.ts";

type Fields = Record<string, unknown>;

/** Stores a canonical trace of these spans, without an evaluation. Returns its id. */
export async function storeSpans(service: TestService, spans: Fields[], more: Fields = {}): Promise<string> {
  const answer = await send(service, { body: canonicalBody(service.agent.id, { spans, ...more }) });
  if (answer.status >= 300) throw new Error(answer.bytes.toString());
  return String(answer.headers["x-svc-trace-id"]);
}

export const say = (role: string, ...parts: unknown[]) => ({
  role,
  parts: parts.map(part => (typeof part === "string" ? { type: "text", content: part } : part)),
});

/** A span that starts and ends these milliseconds after the start of the trace. */
export function timed(id: string, parent: string | null, [from, to]: [number, number], more: Fields): Fields {
  const nanos = (ms: number) => String(1_763_700_000_000_000_000n + BigInt(ms) * 1_000_000n);
  return canonicalSpan({
    span_id: id,
    ...(parent && { parent_span_id: parent }),
    start_time_unix_nano: nanos(from),
    end_time_unix_nano: nanos(to),
    ...more,
  });
}

export const hostile = `<img src=x onerror="document.title='taken'"> javascript:alert(1) \u202e\u0000 [a](http://x.test)`;
export const longReply = "All of the tents that suit two people and a dog. ".repeat(400);

const call = {
  type: "tool_call",
  id: "call_1",
  name: "search_products",
  arguments: { query: "tent", people: 2 },
};
const instructions = `You are the assistant of a shop for the outdoors.\n\n${"Be kind, and never promise a discount. ".repeat(12)}`;
const asked = [say("system", instructions), say("user", "Which tent suits two people and a large dog?")];

/** An agent that thinks, calls a tool, asks a sub-agent, fails once, and answers; its calls repeat the history. */
export const conversation: Fields[] = [
  timed("root", null, [0, 4_200], {
    name: "POST /chat",
    attributes: { "http.request.method": "POST", "http.route": "/chat", "http.response.status_code": 200 },
  }),
  timed("agent", "root", [10, 4_190], {
    name: "invoke_agent shop",
    attributes: { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "shop" },
  }),
  timed("plan", "agent", [20, 900], {
    name: "Plan the answer",
    attributes: {
      "gen_ai.operation.name": "chat",
      "gen_ai.request.model": "mistral-small-latest",
      "gen_ai.input.messages": JSON.stringify(asked),
      "gen_ai.output.messages": JSON.stringify([
        say(
          "assistant",
          { type: "reasoning", content: "A dog is large: look at the porch." },
          "Let me look.",
          call,
        ),
      ]),
      "gen_ai.usage.input_tokens": 640,
      "gen_ai.usage.output_tokens": 24,
      "gen_ai.response.id": "9007199254740993",
      "llm.raw": '{"id":9007199254740993,"nested":{"list":[1,2,{"deep":"found it"}]}}',
      "app.note": hostile,
      "app.flags": ["a", "b"],
    },
    events: [
      {
        name: "first token",
        time_unix_nano: "1763700000320000000",
        attributes: { index: 0, model: "small" },
      },
    ],
  }),
  timed("tool", "agent", [910, 1_400], {
    name: "execute_tool search_products",
    attributes: {
      "gen_ai.tool.name": "search_products",
      "gen_ai.tool.call.id": "call_1",
      "gen_ai.tool.call.arguments": '{"query":"tent","people":2}',
      "gen_ai.tool.call.result": '[{"id":"fjord-3","price":349},{"id":"vista-3","price":289}]',
    },
  }),
  timed("researcher", "agent", [1_500, 2_800], {
    name: "invoke_agent reviews",
    attributes: {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "reviews",
      "gen_ai.input.messages": [say("user", "What do people say about dogs in fjord-3?")],
      "gen_ai.output.messages": [say("assistant", "The floor stands claws.")],
    },
  }),
  timed("broken", "agent", [2_900, 3_100], {
    name: "execute_tool get_stock",
    attributes: { "gen_ai.tool.name": "get_stock", "gen_ai.tool.call.arguments": { id: "fjord-3" } },
    status: { code: 2, message: "upstream timed out" },
  }),
  timed("compose", "agent", [3_200, 4_100], {
    name: "Compose the answer",
    attributes: {
      "gen_ai.operation.name": "chat",
      "gen_ai.request.model": "mistral-small-latest",
      "gen_ai.input.messages": JSON.stringify([
        ...asked,
        say("assistant", "Let me look.", call),
        say("tool", { type: "tool_call_response", id: "call_1", response: [{ id: "fjord-3" }] }),
        say("user", { type: "blob", mime_type: "image/png", content: "A".repeat(2_000) }, "This is the dog."),
      ]),
      "gen_ai.output.messages": JSON.stringify([say("assistant", longReply)]),
    },
    status: { code: 1 },
  }),
];
