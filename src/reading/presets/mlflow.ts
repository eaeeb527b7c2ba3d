// MLflow's autologging exported over OpenTelemetry, MLflow 3: every value is JSON.
import { preset } from "../span/table.ts";

export const mlflow = preset({
  name: "mlflow",
  title: "MLflow",
  writes: "MLflow 3 with autologging, exported over OpenTelemetry.",
  marks: ["mlflow.spanType"],
  signs: [
    {
      attributes: {
        "mlflow.spanInputs": ["input"],
        "mlflow.spanOutputs": ["reply"],
        "mlflow.chat.tokenUsage": ["usage"],
      },
    },
  ],
  kinds: {
    attribute: "mlflow.spanType",
    roles: {
      chat_model: "model",
      llm: "model",
      agent: "agent",
      tool: "tool",
      chain: "step",
      workflow: "step",
      unknown: "step",
      retriever: "other",
      embedding: "other",
      reranker: "other",
      parser: "other",
      memory: "other",
      guardrail: "other",
      evaluator: "other",
    },
  },
  input: ["mlflow.spanInputs"],
  output: ["mlflow.spanOutputs"],
  toolArguments: ["mlflow.spanInputs"],
  toolResult: ["mlflow.spanOutputs"],
  usageJson: ["mlflow.chat.tokenUsage"],
  model: ["mlflow.llm.model", "model"],
  provider: ["mlflow.llm.provider"],
});
