// Lines that guides for Python share: the exporter, a tool, and agents without one framework of their own.

export const openTelemetry = {
  "opentelemetry-sdk": "1.45.1",
  "opentelemetry-exporter-otlp-proto-http": "1.45.1",
};

/** Exports spans as the environment variables say, and starts the instrumentations. */
export function provider(imports: string[], instrumentations: string[]): string {
  return [
    ...imports,
    "from opentelemetry import trace",
    "from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter",
    "from opentelemetry.sdk.trace import TracerProvider",
    "from opentelemetry.sdk.trace.export import BatchSpanProcessor",
    "",
    "provider = TracerProvider()",
    "provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))",
    "trace.set_tracer_provider(provider)",
    ...instrumentations,
  ].join("\n");
}

/** With instrumentations of OpenInference, such as LangChainInstrumentor of its module `langchain`. */
export function openInference(...instrumentors: [module: string, name: string][]): string {
  return provider(
    instrumentors.map(([module, name]) => `from openinference.instrumentation.${module} import ${name}`),
    instrumentors.map(([, name]) => `${name}().instrument(tracer_provider=provider)`),
  );
}

export const tool = `def get_weather(city: str) -> str:
    """Returns the weather in a city."""
    return f"rainy, 14°C in {city}"`;

export const question = "What is the weather in Paris?";

/** Conversation and user, for every instrumentation of OpenInference. */
export const session = `with using_attributes(session_id="conversation-1", user_id="user-1"):`;
export const usingAttributes = "from openinference.instrumentation import using_attributes";

/** The loop of an agent without a framework. */
const openAiLoop = (indent: string) =>
  `messages = [{"role": "user", "content": question}]
while True:
    completion = client.chat.completions.create(model="gpt-5-mini", messages=messages, tools=tools)
    message = completion.choices[0].message
    messages.append(message)
    if not message.tool_calls:
        return message.content
    for call in message.tool_calls:
        result = get_weather(**json.loads(call.function.arguments))
        messages.append({"role": "tool", "tool_call_id": call.id, "content": result})`.replaceAll(
    "\n",
    `\n${indent}`,
  );

const openAiClient = `client = OpenAI()
parameters = {"type": "object", "properties": {"city": {"type": "string"}}}
tools = [{"type": "function", "function": {"name": "get_weather", "parameters": parameters}}]`;

export const openAiAgent = (imports: string[], spans: string) => `import json

${[...imports, "from openai import OpenAI"].join("\n")}

${openAiClient}
tracer = trace.get_tracer("agent")


${tool}


def ask(question: str) -> str:
    # One span around all calls, so that they are one trace.
    with ${spans}:
        ${openAiLoop("        ")}


print(ask("${question}"))`;

export const langChainAgent = `from langchain.agents import create_agent


${tool}


agent = create_agent("openai:gpt-5-mini", tools=[get_weather])
result = agent.invoke(
    {"messages": [{"role": "user", "content": "${question}"}]},
    {"metadata": {"session_id": "conversation-1", "user_id": "user-1"}},
)
print(result["messages"][-1].content)`;
