// Sends each conversation as one POST of plain JSON.
import { randomUUID } from "node:crypto";
import { CommandError } from "../src/command.ts";
import type { PlacedStep } from "./sample.ts";

export type CanonicalTarget = { url: string; apiKey: string; agentId: string };

/** Sends one trace per conversation. Returns their external ids. */
export async function sendCanonical(target: CanonicalTarget, conversations: PlacedStep[]): Promise<string[]> {
  const externalIds: string[] = [];
  for (const conversation of conversations) {
    const externalId = randomUUID();
    const response = await fetch(`${target.url}/public/traces`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-api-key": target.apiKey,
        "x-request-id": externalId,
      },
      body: JSON.stringify({ platformId: target.agentId, spans: spansOf(conversation) }),
    });
    const { message } = (await response.json()) as { message?: string };
    if (!response.ok)
      throw new CommandError(`A sample trace was rejected with ${response.status}: ${message}`);
    externalIds.push(externalId);
  }
  return externalIds;
}

/** The spans of the step and its inner steps, parents first. */
function spansOf(placed: PlacedStep): object[] {
  const spans: object[] = [];
  const add = ({ step, startMs, endMs, steps }: PlacedStep, parentId: string | null) => {
    const id = `step-${spans.length + 1}`;
    spans.push({
      span_id: id,
      parent_span_id: step.lostParent ? "step-filtered-out" : parentId,
      name: step.name,
      attributes: step.attributes,
      ...(!step.untimed && { start_time_unix_nano: nanos(startMs), end_time_unix_nano: nanos(endMs) }),
      ...(step.status && { status: step.status }),
    });
    for (const inner of steps) add(inner, id);
  };
  add(placed, null);
  return spans;
}

function nanos(ms: number): string {
  return `${Math.round(ms)}000000`;
}
