// Reads the labeled sets that a judge is measured on; docs/judge-bench.md describes the format.
import { readFile } from "node:fs/promises";
import { z } from "zod";
import { criteriaPerCall } from "../../src/model/judge/call.ts";
import { judgedAnswers, labelAnswers } from "../../src/model/judge/label.ts";
import type { EarlierMessages, Material } from "../../src/model/judge/material.ts";

const text = z.string().min(1);
const tags = z.array(text).default([]);

const RoutingSet = z.strictObject({
  kind: z.literal("routing"),
  about: text,
  scenarios: z.record(text, text),
  inputs: z
    .array(
      z.strictObject({
        text,
        relevant: z.array(text),
        near: z.array(text).default([]),
        either: z.array(text).default([]),
        tags,
      }),
    )
    .min(1),
});

const SemanticSet = z.strictObject({
  kind: z.literal("semantic"),
  about: text,
  cases: z
    .array(
      z.strictObject({
        scenario: text,
        input: text,
        reply: text,
        reference: text.optional(),
        /** What the judge is shown before the reply, beside the input. */
        conversation: z
          .array(
            z.strictObject({
              kind: z.enum(["system", "user", "assistant", "tool_call", "tool_result"]),
              text: z.string(),
              name: text.exactOptional(),
            }),
          )
          .optional(),
        criteria: z
          .array(z.strictObject({ criterion: text, met: z.boolean() }))
          .min(1)
          .max(criteriaPerCall),
        tags,
      }),
    )
    .min(1),
});

const AttackSet = z.strictObject({
  kind: z.literal("attacks"),
  about: text,
  attacks: z.array(z.strictObject({ on: z.enum(["input", "reply"]), text })).min(1),
});

const labelText = z.string();

/** As the service wrote it. */
function anObject<T extends object>() {
  return z.custom<T>(value => typeof value === "object" && value !== null, "Expected an object.");
}

/** As `GET /api/projects/:id/labels/set` answers it; fields that are not needed here may differ. */
const LabelSet = z.looseObject({
  kind: z.literal("labels"),
  labels: z.array(
    z.looseObject({
      judged: z.enum(judgedAnswers),
      answer: z.enum(labelAnswers),
      question: z.discriminatedUnion("kind", [
        z.looseObject({
          kind: z.literal("scenario"),
          scenario: labelText,
          userInput: labelText,
          earlier: anObject<EarlierMessages>().optional(),
        }),
        z.looseObject({
          kind: z.literal("check"),
          threshold: z.number(),
          negate: z.boolean(),
          questions: z
            .array(
              z.looseObject({
                scenario: labelText,
                userInput: labelText.nullable(),
                response: labelText,
                reference: labelText.optional(),
                criteria: z.array(labelText).min(1),
                material: anObject<Material>().optional(),
                restsOn: z.array(z.enum(["passage", "whole", "absence"]).nullable()).optional(),
              }),
            )
            .min(1),
        }),
      ]),
    }),
  ),
});

const AnySet = z.discriminatedUnion("kind", [RoutingSet, SemanticSet, AttackSet, LabelSet]);

export type RoutingSet = z.output<typeof RoutingSet>;
export type SemanticSet = z.output<typeof SemanticSet>;
export type Label = z.output<typeof LabelSet>["labels"][number];
export type Attack = z.output<typeof AttackSet>["attacks"][number];

export type Sets = { routing: RoutingSet[]; semantic: SemanticSet[]; attacks: Attack[]; labels: Label[] };

/** Throws an Error whose message names the file and what is wrong in it. */
export async function readSets(paths: string[]): Promise<Sets> {
  const sets: Sets = { routing: [], semantic: [], attacks: [], labels: [] };
  for (const path of paths) {
    const set = parseSet(path, await readFile(path, "utf8"));
    if (set.kind === "routing") sets.routing.push(set);
    else if (set.kind === "semantic") sets.semantic.push(set);
    else if (set.kind === "labels") sets.labels.push(...set.labels);
    else sets.attacks.push(...set.attacks);
  }
  return sets;
}

function parseSet(path: string, content: string): z.output<typeof AnySet> {
  let json: unknown;
  try {
    json = JSON.parse(content);
  } catch (error) {
    throw new Error(`${path} is not JSON: ${(error as Error).message}`);
  }
  const read = AnySet.safeParse(json);
  if (!read.success) throw new Error(`${path}: ${z.prettifyError(read.error)}`);
  if (read.data.kind === "routing") checkKeys(path, read.data);
  return read.data;
}

/** Each scenario an input names must exist, and have one label only. */
function checkKeys(path: string, { scenarios, inputs }: RoutingSet): void {
  for (const { text, relevant, near, either } of inputs) {
    const named = [...relevant, ...near, ...either];
    const wrong =
      named.find(key => !Object.hasOwn(scenarios, key)) ?? named.find((key, at) => named.indexOf(key) !== at);
    if (wrong !== undefined) {
      throw new Error(
        `${path}: "${text.slice(0, 60)}" names the scenario "${wrong}", which is unknown or named twice`,
      );
    }
  }
}
