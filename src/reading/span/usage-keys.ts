// The documented attribute of each count of tokens.

export const usageKeys = [
  ["input", "gen_ai.usage.input_tokens"],
  ["output", "gen_ai.usage.output_tokens"],
  ["reasoning", "gen_ai.usage.reasoning.output_tokens"],
  ["cached", "gen_ai.usage.cache_read.input_tokens"],
] as const;
