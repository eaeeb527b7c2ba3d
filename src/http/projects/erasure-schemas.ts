// The response schemas of erasures.
import { z } from "zod";
import { criterionKinds } from "../../model/erasure.ts";
import { Id, Time } from "../frame/schemas.ts";

const Excerpt = z.string().describe("The value with a few characters around it.");

export const Erasure = z
  .object({
    id: Id,
    projectId: Id,
    dryRun: z.boolean(),
    criterion: z.enum(criterionKinds).describe("The kind of criterion. The value itself is not kept."),
    state: z.enum(["running", "done", "failed"]),
    matched: z.int().describe("Traces found; while a search is running, so far."),
    erased: z.int().describe("Traces erased so far."),
    confirmed: z.int().nullable().describe("The number that was confirmed; null for a dry run."),
    step: z
      .enum(["find", "erase"])
      .describe("find: traces are searched. erase: they are deleted, and what quotes them."),
    progress: z.object({
      read: z.int().describe("Traces read."),
      of: z.int().describe("Traces of the project when it began."),
    }),
    error: z
      .string()
      .nullable()
      .describe(
        "Why it failed, why its last attempt is repeated, or, once done, what could not be searched.",
      ),
    createdAt: Time,
    finishedAt: Time.nullable(),
    createdBy: z.string().nullable().describe("The email of the account; null once that is deleted."),
  })
  .meta({ id: "Erasure" });
export type Erasure = z.output<typeof Erasure>;

export const ErasureDetail = Erasure.extend({
  matches: z
    .array(
      z.object({
        traceId: Id,
        agentId: Id,
        spanId: z.string().nullable(),
        in: z.string().describe("The part of the trace: attributes, resource, log, turn, …"),
        path: z.string(),
        excerpt: Excerpt,
      }),
    )
    .describe("The first traces of a dry run, each with the first place."),
  tests: z
    .array(
      z.object({
        id: Id,
        agentId: Id,
        name: z.string(),
        excerpt: Excerpt.describe("Empty if the test does not have the value."),
        draftedFrom: Id.nullable().describe("The trace among those found that the test was drafted from."),
      }),
    )
    .describe(
      "Test cases that have the value or were drafted from a trace that was found. An erasure leaves them as they are: edit or disable them.",
    ),
  notes: z
    .array(
      z.object({
        agentId: Id,
        traceId: Id,
        testId: Id,
        testName: z.string(),
        excerpt: Excerpt,
      }),
    )
    .describe("Notes about other traces that have the value: edit them."),
  views: z
    .array(z.object({ id: Id, agentId: Id, name: z.string(), excerpt: Excerpt }))
    .describe("Saved views that have the value: delete them."),
  more: z.boolean().describe("Whether more tests, notes or views have the value than are listed."),
}).meta({ id: "ErasureDetail" });
export type ErasureDetail = z.output<typeof ErasureDetail>;
