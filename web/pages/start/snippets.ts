// Complete snippets that send a first trace with curl, Node, Python or a Collector. Inserted values are escaped.
import { shellWord } from "./guides/guide.ts";

export type Given = {
  origin: string;
  /** The key or a placeholder. */
  key: string;
  agentId: string;
  /** The agent's or a placeholder. */
  serviceName: string;
  /** When the trace ended, in milliseconds since 1970. */
  endMs: number;
};

export const snippetNames = ["curl", "node", "python", "collector"] as const;
export type SnippetName = (typeof snippetNames)[number];

export type Snippet = {
  label: string;
  /** What to install or where to put it. */
  before: string;
  text: (given: Given) => string;
  /** What to do with the text. */
  after?: { label: string; text: (given: Given) => string };
};

const question = "Are you open on Sunday?";
const answer = "We are, from ten to four.";

/** A string literal that is valid in JavaScript, Python and YAML. */
const quoted = (text: string) => JSON.stringify(text);
const endpointOf = ({ origin }: Given) => `${origin}/public/traces`;

export const snippets: Record<SnippetName, Snippet> = {
  curl: {
    label: "curl",
    before:
      "A complete trace in plain JSON. The agent ID identifies the agent, so no service name is needed.",
    text: given =>
      [
        `curl -i ${shellWord(endpointOf(given))} \\`,
        `  -H ${shellWord(`x-api-key: ${given.key}`)} \\`,
        "  -H 'content-type: application/json' \\",
        `  -d ${shellWord(canonicalBody(given))}`,
      ].join("\n"),
  },
  node: {
    label: "Node",
    before: "npm install @opentelemetry/api @opentelemetry/sdk-node @opentelemetry/exporter-trace-otlp-proto",
    text: nodeText,
    after: { label: "Then run", text: () => "node first-trace.mjs" },
  },
  python: {
    label: "Python",
    before: "pip install opentelemetry-sdk opentelemetry-exporter-otlp-proto-http",
    text: pythonText,
    after: { label: "Then run", text: () => "python first_trace.py" },
  },
  collector: {
    label: "Collector",
    before:
      "If your applications already send traces to a Collector, merge this into its configuration. With a Collector older than 0.144, use otlphttp instead of otlp_http.",
    text: collectorText,
    after: { label: "In the application", text: ({ serviceName }) => environmentOf(serviceName) },
  },
};

/** The shell command that sets the service name for exporters. */
export function environmentOf(serviceName: string): string {
  return `export OTEL_SERVICE_NAME=${shellWord(serviceName)}`;
}

function canonicalBody({ agentId, endMs }: Given): string {
  return JSON.stringify({
    platformId: agentId,
    spans: [
      {
        span_id: "1",
        name: "POST /chat",
        start_time_unix_nano: `${endMs - 900}000000`,
        end_time_unix_nano: `${endMs}000000`,
        attributes: { "http.response.status_code": 200 },
      },
      {
        span_id: "2",
        parent_span_id: "1",
        name: "Compose the answer",
        attributes: {
          "gen_ai.request.model": "my-model",
          "gen_ai.prompt": question,
          "gen_ai.response.text": answer,
          "gen_ai.usage.input_tokens": 420,
          "gen_ai.usage.output_tokens": 8,
        },
      },
    ],
  });
}

function nodeText(given: Given): string {
  return `// first-trace.mjs
import { trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { NodeSDK } from "@opentelemetry/sdk-node";

const sdk = new NodeSDK({
  serviceName: ${quoted(given.serviceName)},
  traceExporter: new OTLPTraceExporter({
    url: ${quoted(endpointOf(given))},
    headers: { "x-api-key": ${quoted(given.key)} },
  }),
});
sdk.start();

const tracer = trace.getTracer("first-trace");
tracer.startActiveSpan("POST /chat", request => {
  tracer.startActiveSpan("Compose the answer", model => {
    model.setAttributes({
      "gen_ai.request.model": "my-model",
      "gen_ai.prompt": "${question}",
      "gen_ai.response.text": "${answer}",
      "gen_ai.usage.input_tokens": 420,
      "gen_ai.usage.output_tokens": 8,
    });
    model.end();
  });
  request.setAttribute("http.response.status_code", 200);
  request.end();
});
await sdk.shutdown(); // sends the remaining spans`;
}

function pythonText(given: Given): string {
  return `# first_trace.py
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider(resource=Resource.create({"service.name": ${quoted(given.serviceName)}}))
provider.add_span_processor(
    BatchSpanProcessor(
        OTLPSpanExporter(
            endpoint=${quoted(endpointOf(given))},
            headers={"x-api-key": ${quoted(given.key)}},
        )
    )
)

tracer = provider.get_tracer("first-trace")
with tracer.start_as_current_span("POST /chat") as request:
    with tracer.start_as_current_span("Compose the answer") as model:
        model.set_attributes(
            {
                "gen_ai.request.model": "my-model",
                "gen_ai.prompt": "${question}",
                "gen_ai.response.text": "${answer}",
                "gen_ai.usage.input_tokens": 420,
                "gen_ai.usage.output_tokens": 8,
            }
        )
    request.set_attribute("http.response.status_code", 200)
provider.shutdown()  # sends the remaining spans`;
}

/** The Collector expands variables after a dollar sign; "$$" is a plain one. */
function collectorText(given: Given): string {
  const escaped = (text: string) => quoted(text).replaceAll("$", "$$$$");
  return `receivers:
  otlp:
    protocols:
      http:

exporters:
  otlp_http/onlooker:
    traces_endpoint: ${escaped(endpointOf(given))}
    headers:
      x-api-key: ${escaped(given.key)}

service:
  pipelines:
    traces/onlooker:
      receivers: [otlp]
      exporters: [otlp_http/onlooker]`;
}
