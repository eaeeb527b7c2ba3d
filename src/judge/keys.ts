// Cache keys of questions: a hash of everything that the judge's answer depends on.
import { createHash } from "node:crypto";
import type { JudgeProvider, ReplyPart } from "../model/judge/call.ts";
import type { SemanticQuestion } from "../model/judge/judge.ts";
import type { LabelQuestion } from "../model/judge/label.ts";
import { type EarlierMessages, itemsLeftOut, type Material } from "../model/judge/material.ts";
import type { Bounded } from "../model/judge/prompt-bounds.ts";
import { oncePerText } from "../model/once-per-text.ts";
import { stripInvisible } from "../model/strip-invisible.ts";
import type { JudgeAccess } from "./admission.ts";

/** 64 hex digits. */
export type QuestionKey = string;

export type ScenarioQuestion = {
  scenario: string;
  userInput: string;
  earlier?: EarlierMessages;
  redacted?: string[];
};

/** `vote` counts from 1: each vote is a question of its own. */
export type CriterionQuestion = {
  criterion: string;
  scenario: string;
  reference?: string;
  userInput: string | null;
  reply: string;
  /** Absent: the reply is judged as a whole. */
  part?: ReplyPart;
  /** Absent: the judge sees the user's input and the reply only. */
  material?: Material;
  /** When the conversation took place, as the judge is told; absent: it is not. */
  time?: string;
  vote: number;
  /** As in `SemanticQuestion`. */
  redacted?: string[];
};

/** What all questions to one judge share. */
export type JudgeIdentity = {
  projectId: string;
  promptVersion: string;
  provider: JudgeProvider;
  url: string | null;
  model: string;
  /** Of the connection's own headers, which may choose the model behind a gateway; absent: no headers. */
  headersHash?: string;
};

export function identityOf({ projectId, judge, client }: JudgeAccess): JudgeIdentity {
  const { provider, url, model, headers = [] } = judge.connection;
  const own =
    headers.length > 0 ? { headersHash: hash(headers.flatMap(({ name, value }) => [name, value])) } : {};
  return { projectId, promptVersion: client.promptVersion, provider, url, model, ...own };
}

/** Normalizes each text of a trace once, however many questions contain it. */
export function keysFor({ projectId, promptVersion, provider, url, model, headersHash }: JudgeIdentity) {
  const inputs = oncePerText(text => hash([normalized(text)]));
  const replies = oncePerText(text => hash([normalizedLines(text)]));
  const shared = [projectId, promptVersion, provider, url, model, ...(headersHash ? [headersHash] : [])];
  return {
    ofScenario: ({ scenario, userInput, earlier, redacted }: ScenarioQuestion): QuestionKey =>
      hash([
        ...["route", ...shared, scenario, inputs(userInput)],
        ...(earlier ? [hashOfEarlier(earlier)] : []),
        ...redactedPart(redacted),
      ]),
    ofCriterion(question: CriterionQuestion): QuestionKey {
      const { criterion, scenario, reference, userInput, reply, part, vote, material, time } = question;
      const input = userInput === null ? null : inputs(userInput);
      return hash([
        "semantic",
        ...shared,
        ...[criterion, scenario, reference ?? null, input, replies(reply), vote],
        material ? hashOfMaterial(material) : null,
        ...(part ? [part.at, part.of] : []),
        ...(time === undefined ? [] : ["time", time]),
        ...redactedPart(question.redacted),
      ]);
    },
    ofClass: (criterion: string): QuestionKey => hash(["classify", ...shared, criterion]),
  };
}

/** The same for whatever trace asks it: of the first vote on each criterion, or of the scenario. */
export function keyOfLabeled(question: LabelQuestion, identity: JudgeIdentity): QuestionKey {
  const keys = keysFor(identity);
  if (question.kind === "scenario") return keys.ofScenario(question);
  const ofCheck = ({ criteria, response, ...asked }: SemanticQuestion) =>
    criteria.map(criterion => keys.ofCriterion({ ...asked, criterion, reply: response, vote: 1 }));
  return hash(question.questions.flatMap(ofCheck));
}

/** Of what is shown, and not of where it is: the same conversation in another trace gets the same answer. */
export const hashOfMaterial = oncePerObject((material: Material) =>
  hash([
    ...[Number(material.tools), Number(material.complete), itemsLeftOut(material)],
    ...(material.toolResults === false ? ["no results"] : []),
    ...(material.offered ? ["tools", ...material.offered, null] : []),
    ...material.items.flatMap(({ kind, text, name = null, agent = null, failed = false, is = null }) => [
      ...[kind, name, agent, Number(failed), is],
      ...shownParts(text),
    ]),
  ]),
);

const hashOfEarlier = oncePerObject(({ messages, leftOut }: EarlierMessages) =>
  hash([leftOut, ...messages.flatMap(({ from, text }) => [from, ...shownParts(text)])]),
);

function redactedPart(rules: string[] | undefined): string[] {
  return rules ? ["redacted", ...rules] : [];
}

function shownParts(text: Bounded): (string | number)[] {
  if (typeof text === "string") return [normalizedLines(text), 0];
  return [normalizedLines(text.start), text.characters_left_out, normalizedLines(text.end)];
}

function oncePerObject<O extends object>(of: (object: O) => string): (object: O) => string {
  const known = new WeakMap<O, string>();
  return object => {
    const value = known.get(object) ?? of(object);
    known.set(object, value);
    return value;
  };
}

function hash(parts: (string | number | null)[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

/** Normalizes whitespace and invisible characters. */
function normalized(text: string): string {
  // Single spaces, by far the most frequent, are left as they are.
  return stripInvisible(text)
    .normalize("NFC")
    .replace(/\s{2,}|[^\S ]/g, " ")
    .trim();
}

/** Normalizes within each line; lines and indentation stay, since a criterion may ask for a list or for code. */
function normalizedLines(text: string): string {
  return stripInvisible(text)
    .normalize("NFC")
    .replace(/\r\n?/g, "\n")
    .replace(/(?<=\S)(?:[^\S\n]{2,}|[^\S\n ])/g, " ")
    .replace(/ $|^[^\S\n]+$/gm, "")
    .trim();
}
