// What makes two questions the same: everything that a judge's answer depends on, as one hash.
import { createHash } from "node:crypto";
import type { JudgeConnection } from "../model/judge-call.ts";
import { visible } from "../model/visible.ts";

/** What all questions over one connection share. */
export type Basis = {
  projectId: string;
  promptVersion: string;
} & Pick<JudgeConnection, "provider" | "url" | "model">;

/** 64 hex digits. */
export type QuestionKey = string;

export function scenarioKey(basis: Basis, { scenario, userInput }: ScenarioAsk): QuestionKey {
  return hash("route", basis, [scenario, normal(userInput)]);
}

export function criterionKey(basis: Basis, ask: CriterionAsk): QuestionKey {
  const { criterion, scenario, reference, userInput, reply, vote } = ask;
  const input = userInput === null ? null : normal(userInput);
  return hash("semantic", basis, [criterion, scenario, reference ?? null, input, normal(reply), vote]);
}

export type ScenarioAsk = { scenario: string; userInput: string };

/** `vote` counts from 1: each is an opinion of its own. */
export type CriterionAsk = {
  criterion: string;
  scenario: string;
  reference?: string;
  userInput: string | null;
  reply: string;
  vote: number;
};

function hash(kind: string, basis: Basis, parts: (string | number | null)[]): QuestionKey {
  const { projectId, promptVersion, provider, url, model } = basis;
  return createHash("sha256")
    .update(JSON.stringify([kind, projectId, promptVersion, provider, url, model, ...parts]))
    .digest("hex");
}

/** What differs in nothing but spaces and in what nobody sees is the same text. */
function normal(text: string): string {
  return visible(text).normalize("NFC").replace(/\s+/g, " ").trim();
}
