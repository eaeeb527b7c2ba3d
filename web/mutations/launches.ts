// Starting and cancelling launches.
import type { Launch, LaunchDetail } from "../../src/http/test-cases/launch-schemas.ts";
import { type Answer, ask } from "../api.ts";

/** Runs these tests, or every Active one. */
export const startLaunch = (agentId: string, testIds?: readonly string[]): Promise<Answer<Launch>> =>
  ask("POST", `/api/agents/${agentId}/launches`, {
    body: { source: "dashboard", ...(testIds && { testIds }) },
  });

export const cancelLaunch = (id: string): Promise<Answer<LaunchDetail>> =>
  ask("POST", `/api/launches/${id}/cancel`);
