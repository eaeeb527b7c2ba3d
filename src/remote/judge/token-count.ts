// Compares the input tokens that a server counted with an estimate of what was sent: far fewer suggest a prompt cut to the
// server's context.
import type { JudgeCall, TokenCount } from "../../model/judge/call.ts";
import { type Prompt, tokensOf } from "./prompts.ts";

/** Of a shorter prompt a low count says nothing: no server in use has a context of less than half of it. */
const promptTokensMin = 2_000;

/** Null unless the server counted less than half. Tokens that it read from its cache are part of the count. */
export function lowCountOf(
  { inputTokens, tokensEstimated }: Pick<JudgeCall, "inputTokens" | "tokensEstimated">,
  prompt: Pick<Prompt, "instructions" | "material">,
): TokenCount | null {
  const sent = tokensOf(prompt);
  const isLow = !tokensEstimated && sent >= promptTokensMin && inputTokens < sent / 2;
  return isLow ? { counted: inputTokens, sent } : null;
}
