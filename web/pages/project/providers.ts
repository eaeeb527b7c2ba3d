// What each kind of judge is called and needs, and where servers on one's own machine listen.
import type { JudgeFault } from "../../../src/http/judge/schemas.ts";
import type { JudgeMode, JudgeProvider } from "../../../src/model/judge/call.ts";

export const providers: Record<JudgeProvider, { label: string; needs: string }> = {
  openai: { label: "OpenAI", needs: "a model and an API key" },
  anthropic: { label: "Anthropic", needs: "a model and an API key" },
  google: { label: "Google", needs: "a Gemini model and an API key" },
  openai_compatible: {
    label: "OpenAI-compatible server",
    needs: "its address and a model; a key where it asks for one",
  },
};

/** Where these listen unless they were told otherwise. */
export const localServers = [
  { name: "Ollama", url: "http://127.0.0.1:11434/v1" },
  { name: "LM Studio", url: "http://127.0.0.1:1234/v1" },
  { name: "vLLM", url: "http://127.0.0.1:8000/v1" },
  { name: "llama.cpp", url: "http://127.0.0.1:8080/v1" },
];

/** How the shape of an answer is asked for, the strictest first. */
export const modes: Record<JudgeMode, string> = {
  json_schema: "JSON schema",
  tool: "Tool call",
  json_object: "JSON object",
  text: "Plain JSON",
};

/** What may mend it. */
export const mending: Record<JudgeFault, string> = {
  later:
    "Is the server running, and can it be reached from the machine that runs Onlooker? If so, try again in a moment.",
  refused: "Check the key, the address and the name of the model.",
  unusable: "Choose a model that follows instructions and answers in JSON; larger ones do so more reliably.",
  budget: "Raise the limit or add credit at the provider.",
  misjudged: "It works, but its verdicts may be worth little. Compare it with a larger model.",
};
