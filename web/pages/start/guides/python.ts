// Guides for agents in Python that instrument themselves, or that others than OpenInference instrument.
import type { Guide } from "./guide.ts";
import { langChainAgent, openAiAgent, openTelemetry, provider, question, tool } from "./python-lines.ts";

export const pythonGuides: Guide[] = [
  {
    id: "python-openai-openllmetry",
    language: "Python",
    title: "OpenAI SDK",
    by: "OpenLLMetry",
    packages: { openai: "2.54.0", "opentelemetry-instrumentation-openai": "0.62.4", ...openTelemetry },
    setup: provider(
      ["from opentelemetry.instrumentation.openai import OpenAIInstrumentor"],
      ["OpenAIInstrumentor().instrument(tracer_provider=provider)"],
    ),
    example: openAiAgent(
      [],
      `tracer.start_as_current_span("agent", attributes={"session.id": "conversation-1", "user.id": "user-1"})`,
    ),
    convention: "openllmetry",
  },
  {
    id: "python-langsmith",
    language: "Python",
    title: "LangChain and LangGraph",
    by: "LangSmith",
    packages: { langchain: "1.4.7", "langchain-openai": "1.7.3", "langsmith[otel]": "0.15.0" },
    variables: {
      LANGSMITH_TRACING: "true",
      LANGSMITH_OTEL_ENABLED: "true",
      LANGSMITH_OTEL_ONLY: "true",
    },
    setup: provider([], []),
    example: langChainAgent,
    convention: "langsmith",
    note: "Without LANGSMITH_OTEL_ONLY, runs are sent to LangSmith, too.",
  },
  {
    id: "python-pydantic-ai",
    language: "Python",
    title: "Pydantic AI",
    packages: { "pydantic-ai-slim[openai]": "2.31.1", ...openTelemetry },
    setup: provider(["from pydantic_ai import Agent"], ["Agent.instrument_all()"]),
    example: `agent = Agent("openai:gpt-5-mini")


@agent.tool_plain
${tool}


print(agent.run_sync("${question}", conversation_id="conversation-1").output)`,
    convention: "pydantic_ai",
    note: "With Logfire, logfire.configure(send_to_logfire=False) and logfire.instrument_pydantic_ai() replace these lines.",
  },
  {
    id: "python-strands",
    language: "Python",
    title: "Strands Agents",
    packages: { "strands-agents[openai,otel]": "1.62.0" },
    setup: `from strands.telemetry import StrandsTelemetry

StrandsTelemetry().setup_otlp_exporter()`,
    example: `from strands import Agent, tool
from strands.models.openai import OpenAIModel


@tool
${tool}


agent = Agent(
    model=OpenAIModel(model_id="gpt-5-mini"),
    tools=[get_weather],
    callback_handler=None,
    trace_attributes={"session.id": "conversation-1", "user.id": "user-1"},
)
print(agent("${question}"))`,
    convention: "strands",
  },
  {
    id: "python-agent-framework",
    language: "Python",
    title: "Microsoft Agent Framework",
    packages: {
      "agent-framework-core": "1.23.0",
      "agent-framework-openai": "1.17.0",
      "opentelemetry-exporter-otlp-proto-http": "1.45.1",
    },
    setup: `from agent_framework.observability import configure_otel_providers

configure_otel_providers(enable_sensitive_data=True)`,
    example: `import asyncio

from agent_framework import Agent
from agent_framework.openai import OpenAIChatClient


${tool}


async def main() -> None:
    agent = Agent(client=OpenAIChatClient(model="gpt-5-mini"), name="Weather", tools=[get_weather])
    print(await agent.run("${question}"))


asyncio.run(main())`,
    convention: "agent_framework",
    note: "enable_sensitive_data switches message content on.",
  },
  {
    id: "python-google-adk",
    language: "Python",
    title: "Google ADK",
    packages: {
      "google-adk": null,
      "opentelemetry-sdk": null,
      "opentelemetry-exporter-otlp-proto-http": null,
    },
    variables: {
      OTEL_SEMCONV_STABILITY_OPT_IN: "gen_ai_latest_experimental",
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "SPAN_AND_EVENT",
    },
    setup: provider([], []),
    convention: "google_adk",
    note: "The last two variables switch message content on in version 2; version 1 needs neither.",
    notRun: "its dependencies conflict with those of the other frameworks",
  },
];
