// Refuses JSON bodies that are neither a canonical trace nor an OTLP export, and names the format where it is known.
import { isRecord } from "../model/record.ts";
import { Refusal } from "../model/refusal.ts";

/** `is`: with the verb, which says how certain it is. */
type Format = { is: string; matches: (body: unknown) => boolean; hint: string };
type Fields = Record<string, unknown>;

/** How many entries of a body are looked at. */
const entriesMax = 50;
/** What platforms store of a node that ran. */
const nodeFields = [
  ...["input", "inputs", "output", "outputs", "data", "result", "error", "status"],
  ...["startTime", "executionTime", "executionStatus", "duration"],
];

// The first that matches is named.
const formats: Format[] = [
  {
    is: "is a list",
    matches: body => Array.isArray(body) && !isFlowise(body),
    hint: "Send an object with the list as `spans`, or an OTLP trace export with a `resourceSpans` list.",
  },
  {
    is: "is an export of logs, not of traces",
    matches: body => isRecord(body) && "resourceLogs" in body,
    hint: "Send logs to /public/logs.",
  },
  {
    is: "is an export of metrics, not of traces",
    matches: body => isRecord(body) && "resourceMetrics" in body,
    hint: "Send an object with a `spans` list, or an OTLP trace export with a `resourceSpans` list.",
  },
  {
    is: "looks like n8n's run data",
    matches: isRunData,
    hint: "Send a `spans` list with one span per node. n8n 2.19 and newer can export OTLP to this URL instead.",
  },
  {
    is: "looks like execution data of Flowise",
    matches: isFlowise,
    hint: "Send a `spans` list with one span per node, or Flowise's OTLP traces through a Collector.",
  },
  {
    is: "looks like an object keyed by node name",
    matches: isKeyedByNode,
    hint: "Send a `spans` list with one object per node: its `name`, a `span_id` and `attributes`.",
  },
];

/** A VALIDATION_ERROR that says what the body is, and what to send instead. */
export function unknownShape(body: unknown): Refusal {
  const format = formats.find(({ matches }) => matches(body));
  if (format) {
    return new Refusal("VALIDATION_ERROR", { message: `The body ${format.is}.`, hint: format.hint });
  }
  return shapeRefusal(
    isRecord(body) ? "The body has neither spans nor resourceSpans." : "The body is not a JSON object.",
  );
}

export function shapeRefusal(message: string): Refusal {
  return new Refusal("VALIDATION_ERROR", {
    message,
    hint: "Send an object with a `spans` list, or an OTLP trace export with a `resourceSpans` list.",
  });
}

/** An execution as n8n's API, database and error workflows give it, or only its `runData`. */
function isRunData(body: unknown): boolean {
  for (const outer of [body, field(body, "data"), field(body, "execution")]) {
    const result = field(outer, "resultData");
    if (isRecord(field(result, "runData")) || isRecord(field(outer, "runData"))) return true;
  }
  // Each node has a list of its runs.
  return everyEntry(body, runs => {
    const run: unknown = Array.isArray(runs) ? runs[0] : undefined;
    return field(run, "startTime") !== undefined && field(run, "executionTime") !== undefined;
  });
}

/** The response of a prediction, an execution, or its list of executed nodes. */
function isFlowise(body: unknown): boolean {
  if (Array.isArray(body)) return isExecutedNode(body[0]);
  const executed = field(body, "agentFlowExecutedData");
  if (Array.isArray(executed) || typeof field(body, "executionData") === "string") return true;
  return field(body, "chatId") !== undefined && field(body, "chatMessageId") !== undefined;
}

function isExecutedNode(node: unknown): boolean {
  return field(node, "nodeId") !== undefined && field(node, "nodeLabel") !== undefined;
}

function isKeyedByNode(body: unknown): boolean {
  return everyEntry(body, entry => {
    const node: unknown = Array.isArray(entry) ? entry[0] : entry;
    return nodeFields.some(name => field(node, name) !== undefined);
  });
}

function everyEntry(body: unknown, matches: (entry: unknown) => boolean): boolean {
  const keys = isRecord(body) ? Object.keys(body).slice(0, entriesMax) : [];
  return keys.length > 0 && keys.every(key => key !== "metadata" && matches((body as Fields)[key]));
}

function field(value: unknown, name: string): unknown {
  return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
