// Bodies that are neither a canonical trace nor an OTLP export: the error names the format, and what to send instead.
import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeJson, refusalOf } from "./make-body.ts";

const nodeRuns = [
  { startTime: 1795206705954, executionTime: 12, executionStatus: "success", data: { main: [[]] } },
];
const runData = { Webhook: nodeRuns, "AI Agent": nodeRuns };
const executedNode = { nodeId: "agentAgentflow_0", nodeLabel: "Agent", data: {}, status: "FINISHED" };

const bodies: { [what: string]: [body: unknown, message: RegExp, hint: RegExp] } = {
  "n8n's execution, as its API gives it": [
    { id: 7, finished: true, data: { resultData: { runData, lastNodeExecuted: "AI Agent" } } },
    /n8n/,
    /one span per node.*n8n 2\.19/,
  ],
  "n8n's execution data": [{ startData: {}, resultData: { runData } }, /n8n/, /spans/],
  "n8n's execution in an error workflow": [{ execution: { resultData: { runData } } }, /n8n/, /spans/],
  "n8n's run data alone": [runData, /n8n/, /spans/],
  "a prediction of Flowise": [
    { text: "Hello", question: "Hi", chatId: "c", chatMessageId: "m", sessionId: "s" },
    /Flowise/,
    /Collector/,
  ],
  "an execution of Flowise": [{ id: "e", executionData: "[]", state: "FINISHED" }, /Flowise/, /Collector/],
  "executed nodes of Flowise": [{ agentFlowExecutedData: [executedNode] }, /Flowise/, /Collector/],
  "a list of executed nodes of Flowise": [[executedNode], /Flowise/, /Collector/],
  "an object keyed by node name": [
    { Planner: { input: "Hi", output: "Plan" }, Writer: { input: "Plan", output: "Hello" } },
    /keyed by node name/,
    /`spans` list with one object per node/,
  ],
  "an object with lists of a node's runs": [
    { Planner: [{ output: "a" }] },
    /keyed by node name/,
    /`span_id`/,
  ],
  "a list of spans": [[{ span_id: "1", name: "chat" }], /is a list/, /list as `spans`/],
  "an export of logs": [{ resourceLogs: [] }, /export of logs, not/, /\/public\/logs/],
  "an export of metrics": [{ resourceMetrics: [] }, /export of metrics, not/, /resourceSpans/],
  "metadata without spans": [
    { metadata: { status: "ok" } },
    /neither spans nor resourceSpans/,
    /resourceSpans/,
  ],
  "an empty object": [{}, /neither spans nor resourceSpans/, /resourceSpans/],
  "a text": ['"spans"', /is not a JSON object/, /resourceSpans/],
  "keys of prototypes": [JSON.parse('{"__proto__":{"data":1}}'), /keyed by node name/, /spans/],
  nulls: [{ data: null, Planner: null }, /neither spans nor resourceSpans/, /resourceSpans/],
};

for (const [what, [body, message, hint]] of Object.entries(bodies)) {
  test(`${what}`, () => {
    const refusal = refusalOf("VALIDATION_ERROR", () => decodeJson(body));
    assert.match(refusal.message, message);
    assert.match(refusal.hint!, hint);
  });
}

test("a trace whose other fields look like another format is accepted", () => {
  const spans = [{ span_id: "1", name: "chat" }];
  assert.equal(decodeJson({ spans, Planner: { input: "Hi" }, resultData: { runData } }).path, "canonical");
});
