// What the judge used: tokens and their cost.

/** Usage of the judge. `costUsd` excludes `unpricedTokens`, the tokens of models without a known price. */
export type JudgeUse = {
  inputTokens: number;
  outputTokens: number;
  costUsd: number;
  unpricedTokens: number;
  /** Tokens of calls whose server reported no usage; they are part of the others. */
  estimatedTokens: number;
};
