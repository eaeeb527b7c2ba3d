// Starting dry runs and erasures.
import type { ErasureDetail } from "../../src/http/projects/erasure-schemas.ts";
import type { CriterionKind } from "../../src/model/erasure.ts";
import { type Answer, ask } from "../api.ts";

/** What to look for; `traceIds` are separated by spaces, commas or lines. */
export type WantedCriterion = { kind: CriterionKind; value: string };

function fieldsOf({ kind, value }: WantedCriterion): object {
  return { [kind]: kind === "traceIds" ? value.split(/[\s,]+/).filter(Boolean) : value };
}

export const startDryRun = (projectId: string, wanted: WantedCriterion): Promise<Answer<ErasureDetail>> =>
  ask("POST", `/api/projects/${projectId}/erasures`, { body: { ...fieldsOf(wanted), dryRun: true } });

export const startErasure = (
  projectId: string,
  wanted: WantedCriterion,
  confirm: number,
): Promise<Answer<ErasureDetail>> =>
  ask("POST", `/api/projects/${projectId}/erasures`, { body: { ...fieldsOf(wanted), confirm } });
