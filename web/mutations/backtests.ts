// Starting, cancelling and deleting backtests.
import type { BacktestDetail, BacktestEstimate } from "../../src/http/test-cases/backtest-schemas.ts";
import { type Answer, ask, remove } from "../api.ts";

/** `testId`: the saved test to compare with. */
export type BacktestRequest = { test: unknown; testId?: string | undefined; traces: number };

export const estimateBacktest = (agentId: string, body: BacktestRequest): Promise<Answer<BacktestEstimate>> =>
  ask("POST", `/api/agents/${agentId}/backtests/estimate`, { body });

export const startBacktest = (
  agentId: string,
  body: BacktestRequest & { judge: boolean },
): Promise<Answer<BacktestDetail>> => ask("POST", `/api/agents/${agentId}/backtests`, { body });

export const cancelBacktest = (id: string): Promise<Answer<BacktestDetail>> =>
  ask("POST", `/api/backtests/${id}/cancel`);

export const deleteBacktest = (id: string) => remove(`/api/backtests/${id}`);
