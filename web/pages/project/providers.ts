// Labels and requirements of judge providers, labels of output modes, fixes for failed connection tests, and default URLs
// of local servers.
import type { JudgeFault } from "../../../src/http/judge/schemas.ts";
import type { JudgeMode, JudgeProvider } from "../../../src/model/judge/call.ts";

export const providers: Record<JudgeProvider, { label: string; needs: string }> = {
  openai: { label: "OpenAI", needs: "a model and an API key" },
  anthropic: { label: "Anthropic", needs: "a model and an API key" },
  google: { label: "Google", needs: "a Gemini model and an API key" },
  openai_compatible: {
    label: "OpenAI-compatible server",
    needs: "a URL and a model, and an API key if required",
  },
};

/** Default URLs of popular local servers. */
export const localServers = [
  { name: "Ollama", url: "http://127.0.0.1:11434/v1" },
  { name: "LM Studio", url: "http://127.0.0.1:1234/v1" },
  { name: "vLLM", url: "http://127.0.0.1:8000/v1" },
  { name: "llama.cpp", url: "http://127.0.0.1:8080/v1" },
];

/** How the judge is asked for a structured answer, strictest first. */
export const modes: Record<JudgeMode, string> = {
  json_schema: "JSON schema",
  tool: "Tool call",
  json_object: "JSON object",
  text: "Plain JSON",
};

/** How to fix a failed connection test. */
export const fixes: Record<JudgeFault, string> = {
  later:
    "Check that the server is running and reachable from the machine that runs Onlooker, then try again.",
  refused: "Check the API key, the URL, the model name and the headers.",
  unusable: "Choose a model that follows instructions and answers in JSON. Larger models are more reliable.",
  budget: "Raise the limit or add credit at the provider.",
  context:
    "Give the server a larger context (Ollama: OLLAMA_CONTEXT_LENGTH or num_ctx), or choose another model.",
  misjudged: "The judge works, but its verdicts may be unreliable. Compare it with a larger model.",
};
