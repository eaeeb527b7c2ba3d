// Guides for agents in Python that OpenInference instruments.
import type { Guide } from "./guide.ts";
import {
  langChainAgent,
  openAiAgent,
  openInference,
  openTelemetry,
  question,
  session,
  tool,
  usingAttributes,
} from "./python-lines.ts";

export const openInferenceGuides: Guide[] = [
  {
    id: "python-openai",
    language: "Python",
    title: "OpenAI SDK",
    by: "OpenInference",
    packages: { openai: "2.54.0", "openinference-instrumentation-openai": "0.1.66", ...openTelemetry },
    setup: openInference(["openai", "OpenAIInstrumentor"]),
    example: openAiAgent(
      [usingAttributes],
      `using_attributes(session_id="conversation-1", user_id="user-1"), tracer.start_as_current_span("agent")`,
    ),
    convention: "openinference",
  },
  {
    id: "python-langchain",
    language: "Python",
    title: "LangChain and LangGraph",
    by: "OpenInference",
    packages: {
      langchain: "1.4.7",
      "langchain-openai": "1.7.3",
      "openinference-instrumentation-langchain": "0.1.80",
      ...openTelemetry,
    },
    setup: openInference(["langchain", "LangChainInstrumentor"]),
    example: langChainAgent,
    convention: "openinference",
  },
  {
    id: "python-llamaindex",
    language: "Python",
    title: "LlamaIndex",
    by: "OpenInference",
    packages: {
      "llama-index-core": "0.14.25",
      "llama-index-llms-openai": "0.8.3",
      "openinference-instrumentation-llama-index": "4.6.1",
      ...openTelemetry,
    },
    setup: openInference(["llama_index", "LlamaIndexInstrumentor"]),
    example: `import asyncio

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.llms.openai import OpenAI
${usingAttributes}


${tool}


async def main() -> None:
    agent = FunctionAgent(tools=[get_weather], llm=OpenAI(model="gpt-4.1-mini"), streaming=False)
    ${session}
        print(await agent.run("${question}"))


asyncio.run(main())`,
    convention: "openinference",
  },
  {
    id: "python-openai-agents",
    language: "Python",
    title: "OpenAI Agents SDK",
    by: "OpenInference",
    packages: {
      "openai-agents": "0.20.0",
      "openinference-instrumentation-openai-agents": "2.6.0",
      ...openTelemetry,
    },
    setup: openInference(["openai_agents", "OpenAIAgentsInstrumentor"]),
    example: `from agents import Agent, Runner, function_tool
${usingAttributes}


@function_tool
${tool}


agent = Agent(name="Weather", model="gpt-5-mini", tools=[get_weather])
${session}
    print(Runner.run_sync(agent, "${question}").final_output)`,
    convention: "openinference",
  },
  {
    id: "python-agno",
    language: "Python",
    title: "Agno",
    by: "OpenInference",
    packages: {
      agno: "3.1.10",
      openai: "2.54.0",
      "openinference-instrumentation-agno": "1.0.15",
      ...openTelemetry,
    },
    setup: openInference(["agno", "AgnoInstrumentor"]),
    example: `from agno.agent import Agent
from agno.models.openai import OpenAIChat


${tool}


agent = Agent(model=OpenAIChat(id="gpt-5-mini"), tools=[get_weather])
print(agent.run("${question}", session_id="conversation-1", user_id="user-1").content)`,
    convention: "openinference",
  },
  {
    id: "python-smolagents",
    language: "Python",
    title: "smolagents",
    by: "OpenInference",
    packages: {
      "smolagents[openai]": "1.26.0",
      "openinference-instrumentation-smolagents": "0.1.43",
      ...openTelemetry,
    },
    setup: openInference(["smolagents", "SmolagentsInstrumentor"]),
    example: `from smolagents import OpenAIModel, ToolCallingAgent, tool
${usingAttributes}


@tool
def get_weather(city: str) -> str:
    """Returns the weather in a city.

    Args:
        city: The city's name.
    """
    return f"rainy, 14°C in {city}"


agent = ToolCallingAgent(model=OpenAIModel("gpt-5-mini"), tools=[get_weather])
${session}
    print(agent.run("${question}"))`,
    convention: "openinference",
  },
  {
    id: "python-dspy",
    language: "Python",
    title: "DSPy",
    by: "OpenInference",
    packages: { dspy: "3.4.1", "openinference-instrumentation-dspy": "0.1.48", ...openTelemetry },
    setup: openInference(["dspy", "DSPyInstrumentor"]),
    example: `import dspy
${usingAttributes}


${tool}


dspy.configure(lm=dspy.LM("openai/gpt-5-mini"))
agent = dspy.ReAct("question -> answer", tools=[get_weather])
${session}
    print(agent(question="${question}").answer)`,
    convention: "openinference",
    missing: "tokens",
    note: "The instrumentation of DSPy writes no tokens.",
  },
  {
    id: "python-haystack",
    language: "Python",
    title: "Haystack",
    by: "OpenInference",
    packages: {
      "haystack-ai": "3.4.0",
      "openinference-instrumentation-haystack": "0.1.46",
      "openinference-instrumentation-openai": "0.1.66",
      ...openTelemetry,
    },
    setup: openInference(["haystack", "HaystackInstrumentor"], ["openai", "OpenAIInstrumentor"]),
    example: `from haystack import Pipeline
from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tools import tool
${usingAttributes}


@tool
${tool}


pipeline = Pipeline()
generator = OpenAIChatGenerator(model="gpt-5-mini")
pipeline.add_component("agent", Agent(chat_generator=generator, tools=[get_weather]))
${session}
    messages = [ChatMessage.from_user("${question}")]
    result = pipeline.run({"agent": {"messages": messages}})
print(result["agent"]["last_message"].text)`,
    convention: "openinference",
    note: "Haystack’s own instrumentation writes no messages of agents; that of the model’s client does.",
  },
  {
    id: "python-crewai",
    language: "Python",
    title: "CrewAI",
    by: "OpenInference",
    packages: {
      crewai: null,
      "openinference-instrumentation-crewai": null,
      "openinference-instrumentation-openai": null,
      "opentelemetry-sdk": null,
      "opentelemetry-exporter-otlp-proto-http": null,
    },
    setup: openInference(["crewai", "CrewAIInstrumentor"], ["openai", "OpenAIInstrumentor"]),
    convention: "openinference",
    note: "The second instrumentation is that of the library that calls the model: for models other than OpenAI’s, take theirs.",
    notRun: "its dependencies conflict with those of the other frameworks",
  },
];
