// Guides for agents in Node.
import type { Guide } from "./guide.ts";

const question = "What is the weather in Paris?";

const sdk = `const sdk = new NodeSDK();
sdk.start();`;

const openAiExample = `const client = new OpenAI();
const parameters = { type: "object", properties: { city: { type: "string" } } };
const tools = [{ type: "function", function: { name: "get_weather", parameters } }];
const tracer = trace.getTracer("agent");

// One span around all calls, so that they are one trace.
const ids = setUser(setSession(context.active(), { sessionId: "conversation-1" }), { userId: "user-1" });
await context.with(ids, () => tracer.startActiveSpan("agent", ask));
await sdk.shutdown(); // sends the remaining spans

async function ask(span) {
  const messages = [{ role: "user", content: "${question}" }];
  for (;;) {
    const completion = await client.chat.completions.create({ model: "gpt-5-mini", messages, tools });
    const { message } = completion.choices[0];
    messages.push(message);
    if (!message.tool_calls) {
      console.log(message.content);
      return span.end();
    }
    for (const call of message.tool_calls) {
      const { city } = JSON.parse(call.function.arguments);
      messages.push({ role: "tool", tool_call_id: call.id, content: \`rainy, 14°C in \${city}\` });
    }
  }
}`;

export const nodeGuides: Guide[] = [
  {
    id: "node-ai-sdk",
    language: "Node",
    title: "Vercel AI SDK 7",
    packages: {
      ai: "7.0.173",
      "@ai-sdk/otel": "1.0.173",
      "@ai-sdk/openai": "4.0.118",
      "@opentelemetry/sdk-node": "0.223.0",
    },
    setup: `import { OpenTelemetry } from "@ai-sdk/otel";
import { NodeSDK } from "@opentelemetry/sdk-node";
import { registerTelemetry } from "ai";

${sdk}
registerTelemetry(new OpenTelemetry());`,
    example: `import { createOpenAI } from "@ai-sdk/openai";
import { generateText, isStepCount, jsonSchema, tool } from "ai";

const openai = createOpenAI({ baseURL: process.env.OPENAI_BASE_URL });
const getWeather = tool({
  inputSchema: jsonSchema({ type: "object", properties: { city: { type: "string" } } }),
  execute: ({ city }) => \`rainy, 14°C in \${city}\`,
});
const { text } = await generateText({
  model: openai("gpt-5-mini"),
  prompt: "${question}",
  tools: { get_weather: getWeather },
  stopWhen: isStepCount(5),
});
console.log(text);
await sdk.shutdown(); // sends the remaining spans`,
    convention: null,
  },
  {
    id: "node-openai",
    language: "Node",
    title: "OpenAI SDK",
    by: "OpenInference",
    packages: {
      openai: "6.49.0",
      "@arizeai/openinference-core": "2.7.1",
      "@arizeai/openinference-instrumentation-openai": "4.2.7",
      "@opentelemetry/api": "1.9.1",
      "@opentelemetry/sdk-node": "0.223.0",
    },
    setup: `import { setSession, setUser } from "@arizeai/openinference-core";
import { OpenAIInstrumentation } from "@arizeai/openinference-instrumentation-openai";
import { context, trace } from "@opentelemetry/api";
import { NodeSDK } from "@opentelemetry/sdk-node";
import OpenAI from "openai";

${sdk}
new OpenAIInstrumentation().manuallyInstrument(OpenAI);`,
    example: openAiExample,
    convention: "openinference",
  },
  {
    id: "node-langchain",
    language: "Node",
    title: "LangChain and LangGraph",
    by: "OpenInference",
    packages: {
      langchain: "1.5.14",
      "@langchain/core": "1.4.0",
      "@langchain/openai": "1.5.8",
      "@arizeai/openinference-instrumentation-langchain": "4.1.1",
      "@opentelemetry/sdk-node": "0.223.0",
    },
    setup: `import { LangChainInstrumentation } from "@arizeai/openinference-instrumentation-langchain";
import * as callbacks from "@langchain/core/callbacks/manager";
import { NodeSDK } from "@opentelemetry/sdk-node";

${sdk}
new LangChainInstrumentation().manuallyInstrument(callbacks);`,
    example: `import { createAgent, tool } from "langchain";

const getWeather = tool(({ city }) => \`rainy, 14°C in \${city}\`, {
  name: "get_weather",
  schema: { type: "object", properties: { city: { type: "string" } } },
});
const agent = createAgent({ model: "openai:gpt-5-mini", tools: [getWeather] });
const { messages } = await agent.invoke(
  { messages: [{ role: "user", content: "${question}" }] },
  { metadata: { session_id: "conversation-1", user_id: "user-1" } },
);
console.log(messages.at(-1).text);
await sdk.shutdown(); // sends the remaining spans`,
    convention: "openinference",
  },
  {
    id: "node-mastra",
    language: "Node",
    title: "Mastra",
    packages: {
      "@mastra/core": null,
      "@mastra/observability": null,
      "@mastra/otel-exporter": null,
      "@opentelemetry/exporter-trace-otlp-proto": null,
    },
    variables: { ONLOOKER_KEY: "{key}" },
    setup: `import { Mastra } from "@mastra/core";
import { Observability } from "@mastra/observability";
import { OtelExporter } from "@mastra/otel-exporter";

const exporter = new OtelExporter({
  provider: {
    custom: {
      endpoint: process.env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT,
      headers: { "x-api-key": process.env.ONLOOKER_KEY },
      protocol: "http/protobuf",
    },
  },
});
const serviceName = process.env.OTEL_SERVICE_NAME;
export const mastra = new Mastra({
  // Your agents, and:
  observability: new Observability({ configs: { otel: { serviceName, exporters: [exporter] } } }),
});`,
    convention: "mastra",
    notRun: "its packages are too large for our tests",
  },
];
