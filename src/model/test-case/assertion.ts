// The nine types of assertions, in the form that is stored and exported.
import { z } from "zod";
import { ifThen } from "../if-then.ts";
import { type RestsOn, restsOnWords } from "../judge/call.ts";
import { criteriaMax } from "../judge/judge.ts";
import { type SemanticContext, semanticContexts } from "../judge/material.ts";

type Common = {
  /** Unique in its test. */
  id: string;
  description?: string;
  negate: boolean;
  /** Ids of assertions that must pass before this one is checked. */
  depends_on: string[];
  /** Checks only this turn, from 1, or each turn separately; absent: the whole conversation, of which texts are the last reply. */
  turn?: number | "last" | "each";
};

/** How many of the spans that `target_node` names must hold. */
export type Match = "any" | "all";

export type Assertion = Common &
  (
    | { type: "node_call"; expected_name: string; min: number; max?: number }
    | {
        type: "tool_call";
        expected_name: string;
        expected_arguments?: unknown;
        arguments_mode: "partial" | "exact";
        min: number;
        max?: number;
      }
    | {
        type: "token_limit";
        max_total?: number;
        max_input?: number;
        max_output?: number;
        max_reasoning?: number;
      }
    | { type: "http_status"; expected_status: number | number[] | string }
    | { type: "response_time"; max_ms: number }
    | { type: "response_regex"; pattern: string; flags?: string; target_node?: string; match?: Match }
    | {
        type: "semantic";
        /** One criterion, or up to `criteriaMax`, each judged separately. */
        criteria: string | string[];
        /** What shows that they are met: of all of them, or in their order; null or absent: the judge is asked. */
        rests_on?: RestsOn | (RestsOn | null)[];
        reference?: string;
        threshold?: unknown;
        target_node?: string;
        match?: Match;
        /** What the judge sees beside the user's input and the reply; absent: `defaultContext`. */
        context?: SemanticContext;
      }
    | { type: "json_match"; target_node: string; field: string; expected_value: unknown; match?: Match }
    | { type: "json_schema"; target_node: string; field: string; schema: unknown; match?: Match }
  );

type WithoutId<A> = A extends Assertion ? Omit<A, "id"> : never;

/** An assertion that is not part of a test yet. */
export type AssertionDraft = WithoutId<Assertion>;

export type AssertionType = Assertion["type"];
export type AssertionOf<T extends AssertionType> = Extract<Assertion, { type: T }>;

/**
 * How many must hold, also where the assertion does not say: all of them by the judge or a schema, or one clean span would hide
 * another. For the same reason none may where it is negated.
 */
export function matchOf({ type, match, negate }: AssertionOf<TypeWithMatch>): Match {
  return match ?? (negate || type === "response_regex" || type === "json_match" ? "any" : "all");
}

type TypeWithMatch = "response_regex" | "semantic" | "json_match" | "json_schema";

const text = (max: number) => z.string().min(1).max(max);
const count = z.int().min(0);
const status = z.int().min(100).max(599);
const statusExpected = 'Expected a status (200), a list of statuses, or a class such as "2xx".';
const criteriaExpected = `Expected a text, or a list of 1 to ${criteriaMax} texts of at most 2,000 characters.`;
const restsOn = z.enum(restsOnWords);
const restsOnExpected =
  'Expected "passage", "whole" or "absence", or a list of as many of them (or null) as there are criteria.';
const contextExpected = 'Expected "reply", "conversation" or "conversation_and_tools".';
const match = z.enum(["any", "all"], 'Expected "any" or "all".').exactOptional();
const id = text(100);
const turnExpected = 'Expected the number of a turn, from 1, "last" or "each".';
const turn = z.union([z.int().min(1, turnExpected).max(100, turnExpected), z.enum(["last", "each"])], {
  error: turnExpected,
});

const tokenLimits = ["max_total", "max_input", "max_output", "max_reasoning"];

const stored = { id, negate: z.boolean().default(false), depends_on: z.array(id).default([]) };
const written = {
  id: id.exactOptional(),
  negate: z.boolean().default(false),
  depends_on: z
    .union([id, z.array(id).max(100)], { error: "Expected the ID of an assertion, or a list of IDs." })
    .default([]),
};

/** The stored and exported form. Checks shapes only; `assertionIssues` checks the rest. */
export const assertionSchema = variants(stored) satisfies z.ZodType<Assertion>;

export const assertionTypes: AssertionType[] = assertionSchema.options.map(({ shape }) => shape.type.value);

/** The input of clients: `id` may be absent, and `depends_on` may be a single id. */
export const assertionInputSchema = variants(written);
export type AssertionInput = z.input<typeof assertionInputSchema>;

function variants<C extends z.core.$ZodLooseShape>(common: C) {
  const base = { ...common, description: z.string().max(2000).exactOptional(), turn: turn.exactOptional() };
  const targetNode = text(500);
  const range = { min: count.default(1), max: count.exactOptional() };
  return z.discriminatedUnion("type", [
    z.strictObject({ type: z.literal("node_call"), ...base, expected_name: text(500), ...range }),
    z.strictObject({
      type: z.literal("tool_call"),
      ...base,
      expected_name: text(500),
      expected_arguments: z.unknown().exactOptional(),
      arguments_mode: z.enum(["partial", "exact"]).default("partial"),
      ...range,
    }),
    z
      .strictObject({
        type: z.literal("token_limit"),
        ...base,
        max_total: count.exactOptional(),
        max_input: count.exactOptional(),
        max_output: count.exactOptional(),
        max_reasoning: count.exactOptional(),
      })
      .meta(ifThen({ not: { anyOf: tokenLimits.map(name => ({ required: [name] })) } }, false)),
    z.strictObject({
      type: z.literal("http_status"),
      ...base,
      expected_status: z.union(
        [status, z.array(status).min(1).max(100), z.string().regex(/^[1-5]xx$/i, statusExpected)],
        {
          error: statusExpected,
        },
      ),
    }),
    z.strictObject({ type: z.literal("response_time"), ...base, max_ms: z.number().min(0) }),
    z.strictObject({
      type: z.literal("response_regex"),
      ...base,
      pattern: text(1000),
      flags: z
        .string()
        .max(10)
        // Each flag at most once.
        .meta({ pattern: "^(?:i?m?s?|i?s?m?|m?i?s?|m?s?i?|s?i?m?|s?m?i?)$" })
        .exactOptional(),
      target_node: targetNode.exactOptional(),
      match,
    }),
    z.strictObject({
      type: z.literal("semantic"),
      ...base,
      criteria: z.union(
        [text(10_000), z.array(text(2_000)).min(1, criteriaExpected).max(criteriaMax, criteriaExpected)],
        {
          error: criteriaExpected,
        },
      ),
      rests_on: z
        .union([restsOn, z.array(restsOn.nullable()).min(1).max(criteriaMax)], { error: restsOnExpected })
        .exactOptional(),
      reference: text(20_000).exactOptional(),
      threshold: z.unknown().exactOptional(),
      target_node: targetNode.exactOptional(),
      match,
      context: z.enum(semanticContexts, contextExpected).exactOptional(),
    }),
    z.strictObject({
      type: z.literal("json_match"),
      ...base,
      target_node: targetNode,
      field: text(500),
      expected_value: z.unknown(),
      match,
    }),
    z.strictObject({
      type: z.literal("json_schema"),
      ...base,
      target_node: targetNode,
      field: text(500),
      schema: z.unknown().meta({ type: ["object", "boolean"] }),
      match,
    }),
  ]);
}
