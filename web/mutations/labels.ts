// Saving and deleting labels of the judge's answers.
import type { Label } from "../../src/http/judge/label-schemas.ts";
import { type Answer, ask, remove } from "../api.ts";

export type LabelBody = Pick<Label, "testId" | "checkId" | "answer" | "note">;

export const saveLabel = (runId: string, body: LabelBody): Promise<Answer<Label>> =>
  ask("PUT", `/api/runs/${runId}/labels`, { body });

export const deleteLabel = (id: string): Promise<Answer<void>> => remove(`/api/labels/${id}`);
