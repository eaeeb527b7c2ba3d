// Saving, deleting and exporting labels of the judge's answers, and trying a judge on them.
import type { Label, LabelSet, LabelTrial } from "../../src/http/judge/label-schemas.ts";
import { type Answer, ask, remove } from "../api.ts";
import { type LabelScope, queryOf } from "../queries/labels.ts";

export type LabelBody = Pick<Label, "testId" | "checkId" | "answer" | "note">;

export const saveLabel = (runId: string, body: LabelBody): Promise<Answer<Label>> =>
  ask("PUT", `/api/runs/${runId}/labels`, { body });

export const deleteLabel = (id: string): Promise<Answer<void>> => remove(`/api/labels/${id}`);

export const readLabelSet = (
  { projectId, ...scope }: LabelScope,
  cursor: string | undefined,
): Promise<Answer<LabelSet>> =>
  ask("GET", `/api/projects/${projectId}/labels/set?${queryOf({ ...scope, cursor })}`);

export const tryLabels = (
  { projectId, testId }: LabelScope,
  body: { connection: unknown; cursor: string | undefined; estimate: boolean; limit?: number },
): Promise<Answer<LabelTrial>> =>
  ask("POST", `/api/projects/${projectId}/labels/try`, { body: { ...body, testId } });
