// What makes two questions the same: everything that a judge's answer depends on, as one hash.
import { createHash } from "node:crypto";
import type { JudgeConnection } from "../model/judge/call.ts";
import { visible } from "../model/strip-invisible.ts";

/** What all questions over one connection share. */
export type Basis = {
  projectId: string;
  promptVersion: string;
} & Pick<JudgeConnection, "provider" | "url" | "model">;

/** 64 hex digits. */
export type QuestionKey = string;

export type Keys = {
  ofScenario(ask: ScenarioAsk): QuestionKey;
  ofCriterion(ask: CriterionAsk): QuestionKey;
};

/** For the questions of one asker: the texts of a trace are looked through once, however many ask about them. */
export function keysOver(basis: Basis): Keys {
  const inputs = perText(text => hash([normal(text)]));
  const replies = perText(text => hash([laidOut(text)]));
  const { projectId, promptVersion, provider, url, model } = basis;
  const shared = [projectId, promptVersion, provider, url, model];
  return {
    ofScenario: ({ scenario, userInput }) => hash(["route", ...shared, scenario, inputs(userInput)]),
    ofCriterion({ criterion, scenario, reference, userInput, reply, vote }) {
      const input = userInput === null ? null : inputs(userInput);
      const about = [criterion, scenario, reference ?? null, input, replies(reply), vote];
      return hash(["semantic", ...shared, ...about]);
    },
  };
}

/** The same function, remembering what it said of each text. */
export function perText<V>(of: (text: string) => V): (text: string) => V {
  const said = new Map<string, V>();
  return text => {
    const known = said.get(text);
    if (known !== undefined || said.has(text)) return known as V;
    const value = of(text);
    said.set(text, value);
    return value;
  };
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

function hash(parts: (string | number | null)[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

/** What differs in nothing but spaces and in what nobody sees is the same text. */
function normal(text: string): string {
  // Single spaces, which a long text has the most of, are left as they are.
  return visible(text)
    .normalize("NFC")
    .replace(/\s{2,}|[^\S ]/g, " ")
    .trim();
}

/** The same within each line: lines and their indentation are kept, since a criterion may ask for a list or for code. */
function laidOut(text: string): string {
  return visible(text)
    .normalize("NFC")
    .replace(/\r\n?/g, "\n")
    .replace(/(?<=\S)(?:[^\S\n]{2,}|[^\S\n ])/g, " ")
    .replace(/ $|^[^\S\n]+$/gm, "")
    .trim();
}
