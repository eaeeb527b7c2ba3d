// Changes batches to what may be stored of them, by the settings of their agent, before anything is derived.

import type { Agent, AgentConventions } from "../model/agent/agent.ts";
import { type ReadBy, readByOf } from "../model/agent/read-by.ts";
import { attributeFilter } from "../model/content/attribute-rules.ts";
import { takesEverything } from "../model/content.ts";
import type { Batch, TracePath } from "../model/trace/trace.ts";
import { withoutContent } from "../reading/content/structure.ts";

export type IntakeBy = ReadBy & Pick<AgentConventions, "intake">;

export function intakeOf(agent: Agent): IntakeBy {
  const { content, attributes } = agent;
  return { ...readByOf(agent), intake: { content, attributes } };
}

/** `isForgotten`: the content of its trace was dropped already. */
export type Take = (batch: Batch, path: TracePath, isForgotten?: boolean) => Batch;

/** Of a batch, what may be stored; the same object where the settings change nothing. */
export function takerOf(by: IntakeBy): Take {
  const { intake } = by;
  const isNone = intake?.content === "none";
  const kept = intake && !takesEverything(intake) ? attributeFilter(intake.attributes) : null;
  // What is read in content gets documented keys, which may be denied.
  const denied = attributeFilter({ deny: intake?.attributes.deny ?? [], allow: null });
  return (batch, path, isForgotten = false) => {
    const left = kept ? kept(batch) : batch;
    if (!isNone && !isForgotten) return left;
    return denied(withoutContent(left, path, by, isForgotten ? "forgotten" : "none"));
  };
}
