// Guides for agents in Java and .NET.
import type { Guide } from "./guide.ts";

export const otherGuides: Guide[] = [
  {
    id: "java-spring-ai",
    language: "Java",
    title: "Spring AI",
    packages: {},
    variables: { ONLOOKER_KEY: "{key}" },
    setup: `<!-- pom.xml -->
<dependency>
  <groupId>org.springframework.boot</groupId>
  <artifactId>spring-boot-starter-actuator</artifactId>
</dependency>
<dependency>
  <groupId>io.micrometer</groupId>
  <artifactId>micrometer-tracing-bridge-otel</artifactId>
</dependency>
<dependency>
  <groupId>io.opentelemetry</groupId>
  <artifactId>opentelemetry-exporter-otlp</artifactId>
</dependency>

# application.properties
spring.application.name=\${OTEL_SERVICE_NAME}
management.tracing.sampling.probability=1.0
management.otlp.tracing.endpoint=\${OTEL_EXPORTER_OTLP_TRACES_ENDPOINT}
management.otlp.tracing.headers.x-api-key=\${ONLOOKER_KEY}
spring.ai.tools.observations.include-content=true`,
    convention: "spring_ai",
    note: "Spring AI exports no messages on spans: inputs and replies stay empty unless your code sets gen_ai.prompt and gen_ai.response.text.",
    notRun: "no test runs Java agents",
  },
  {
    id: "dotnet-semantic-kernel",
    language: ".NET",
    title: "Semantic Kernel",
    packages: {
      "Microsoft.SemanticKernel": null,
      OpenTelemetry: null,
      "OpenTelemetry.Exporter.OpenTelemetryProtocol": null,
    },
    setup: `using OpenTelemetry;
using OpenTelemetry.Trace;

// Before the first use of the kernel.
AppContext.SetSwitch("Microsoft.SemanticKernel.Experimental.GenAI.EnableOTelDiagnosticsSensitive", true);

using var tracing = Sdk.CreateTracerProviderBuilder()
    .AddSource("Microsoft.SemanticKernel*")
    .AddOtlpExporter()
    .Build();`,
    convention: "opentelemetry",
    note: "The switch turns message content on. Semantic Kernel writes the user’s input into log records, which its logs exporter can send to /public/logs.",
    notRun: "no test runs .NET agents",
  },
  {
    id: "dotnet-agent-framework",
    language: ".NET",
    title: "Microsoft Agent Framework",
    packages: {
      "Microsoft.Agents.AI": null,
      OpenTelemetry: null,
      "OpenTelemetry.Exporter.OpenTelemetryProtocol": null,
    },
    setup: `using Microsoft.Agents.AI;
using OpenTelemetry;
using OpenTelemetry.Trace;

using var tracing = Sdk.CreateTracerProviderBuilder()
    .AddSource("agent")
    .AddOtlpExporter()
    .Build();

// \`agent\` is yours.
var traced = agent.AsBuilder()
    .UseOpenTelemetry(sourceName: "agent", configure: telemetry => telemetry.EnableSensitiveData = true)
    .Build();`,
    convention: "agent_framework",
    note: "EnableSensitiveData switches message content on.",
    notRun: "no test runs .NET agents",
  },
];
