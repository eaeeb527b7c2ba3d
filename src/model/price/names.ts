// How traces name providers and models, and whose price list that means.

/** Whose models have a built-in price. */
export type PriceProvider = "openai" | "anthropic" | "google";

/** Makers whose models a provider sells at their list price. */
const sellers = {
  openai: ["openai"],
  // Charges what OpenAI does, unless a deployment stays in one region.
  azure: ["openai"],
  anthropic: ["anthropic"],
  aws: ["anthropic"],
  google: ["google", "anthropic"],
  // Resellers and servers with prices of their own, or none.
  other: [],
} satisfies Record<string, PriceProvider[]>;
type Seller = keyof typeof sellers;

const names: Record<Seller, string[]> = {
  openai: ["openai", "openai_chat", "openai_responses"],
  azure: ["azure", "azure_openai", "azure_ai_openai", "az_ai_openai", "azureopenai", "azure_ai_inference"],
  anthropic: ["anthropic"],
  aws: ["aws", "aws_bedrock", "bedrock", "amazon_bedrock", "bedrock_converse"],
  google: [
    ...["google", "gemini", "gcp_gemini", "gcp_gen_ai", "google_gla", "google_genai", "google_generativeai"],
    ...["vertex_ai", "gcp_vertex_ai", "vertexai", "google_vertex", "google_vertexai", "google_generative_ai"],
    "vertex_ai_beta",
  ],
  other: [
    ...["openai_compatible", "openrouter", "groq", "together", "together_ai", "togetherai", "fireworks"],
    ...[
      "fireworks_ai",
      "deepinfra",
      "deepseek",
      "mistral",
      "mistral_ai",
      "mistralai",
      "cohere",
      "x_ai",
      "xai",
    ],
    ...[
      "perplexity",
      "ollama",
      "vllm",
      "hosted_vllm",
      "lm_studio",
      "lmstudio",
      "llama_cpp",
      "cerebras",
      "nvidia",
    ],
    ...[
      "nvidia_nim",
      "sambanova",
      "huggingface",
      "replicate",
      "ibm_watsonx_ai",
      "watsonx",
      "databricks",
      "novita",
    ],
    ...["github", "github_models", "snowflake", "moonshot", "moonshotai", "alibaba", "dashscope"],
  ],
};

const sellerOf = new Map(
  (Object.keys(names) as Seller[]).flatMap(seller =>
    names[seller].map((name): [string, Seller] => [name, seller]),
  ),
);

/** Undefined for a name that is no provider's: frameworks write their own there. */
function sellerNamed(name: string): Seller | undefined {
  const plain = name
    .trim()
    .toLowerCase()
    .replace(/[\s.-]+/g, "_");
  for (let end = plain.length; end > 0; end = plain.lastIndexOf("_", end - 1)) {
    // Some add what they call: openai.chat, google.vertex.chat.
    const found = sellerOf.get(plain.slice(0, end));
    if (found) return found;
  }
  return undefined;
}

/** The names of providers in the name of a model, as gateways write it: openrouter/openai/gpt-4o. */
export function providersIn(model: string): string[] {
  return model.split("/").slice(0, -1);
}

/**
 * Whose price lists apply. Each name of a provider must allow a maker; one that is no provider's says nothing, and a model
 * that only its maker and the large clouds sell is known by its name.
 */
export function makersOf(provider: string | null, inModel: string[]): PriceProvider[] {
  let makers: PriceProvider[] = ["openai", "anthropic", "google"];
  for (const name of provider === null ? inModel : [provider, ...inModel]) {
    const seller = sellerNamed(name);
    const sold: PriceProvider[] | undefined = seller && sellers[seller];
    if (sold) makers = makers.filter(maker => sold.includes(maker));
  }
  return makers;
}

const bedrock =
  /^(?:(?:us|us-gov|eu|apac|jp|au|ca|sa|global)\.)?(?:anthropic|amazon|meta|mistral|cohere|deepseek|openai|ai21)\.(.+)$/;

/** The maker's own name of the model, in lower case: without paths, the prefixes of clouds, and their versions. */
export function bareModel(sent: string): string {
  const last = sent.trim().toLowerCase().split("/").at(-1)!;
  const [, inBedrock] = bedrock.exec(last) ?? [];
  const name = (inBedrock ?? last).replace("@", "-");
  if (!name.startsWith("claude-")) return name;
  // Bedrock adds -v1:0; some gateways write claude-sonnet-4.5.
  return name.replace(/-v\d+(?::\d+)?$/, "").replaceAll(".", "-");
}

/** Whether one of the names means this model, in any of its snapshots. */
export function isSameModel(model: string, names: string[]): boolean {
  const family = (sent: string) =>
    bareModel(sent).replace(/(?:-(?:\d{4}-?\d{2}-?\d{2}|\d{3})|[-:]latest)$/, "");
  return names.some(name => family(name) === family(model));
}
