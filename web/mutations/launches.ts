// Starting, cancelling and deleting launches.
import type { Launch, LaunchDetail, LaunchEstimate } from "../../src/http/test-cases/launch-schemas.ts";
import { type Answer, ask, remove } from "../api.ts";

/** Runs these tests, or every Active one. */
export const startLaunch = (agentId: string, testIds?: readonly string[]): Promise<Answer<Launch>> =>
  ask("POST", `/api/agents/${agentId}/launches`, {
    body: { source: "dashboard", ...(testIds && { testIds }) },
  });

/** What such a launch would send; refused as the launch itself would be. */
export const estimateLaunch = (
  agentId: string,
  testIds?: readonly string[],
): Promise<Answer<LaunchEstimate>> =>
  ask("POST", `/api/agents/${agentId}/launches/estimate`, { body: { ...(testIds && { testIds }) } });

export const cancelLaunch = (id: string): Promise<Answer<LaunchDetail>> =>
  ask("POST", `/api/launches/${id}/cancel`);

/** Also deletes its test runs and their traces. */
export const deleteLaunch = (id: string) => remove(`/api/launches/${id}`);
