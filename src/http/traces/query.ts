// The query parameters of the list of traces, and what they ask for.

import { z } from "zod";
import { type Issue, Refusal } from "../../model/refusal.ts";
import { resultStates } from "../../model/run/run.ts";
import { assertionTypes } from "../../model/test-case/assertion.ts";
import type { SpanFilter } from "../../model/trace/span-filter.ts";
import { boundedId } from "../../reading/derived/identity.ts";
import type { TraceFilters } from "../../store/trace-lists/filters.ts";
import { PageQuery } from "../frame/page.ts";
import { Flag, Id, Instant, notReversed, queryNumber, searchText } from "../frame/schemas.ts";

const number = queryNumber(z.number().nonnegative());
const count = queryNumber(z.number().nonnegative().int());
const Outcome = z.enum(["passed", "failed", "skipped", "missing_instrumentation"]);
/** Ids are sent with any length. */
const idsMax = 10_000;
const scanned = "Read from the spans: a page looks for at most a second.";

export const TraceQuery = PageQuery.extend({
  // Of pages in the order of time, 22 characters; in another order, 76.
  cursor: z
    .string()
    .regex(/^([A-Za-z0-9_-]{21}[AQgw]|[A-Za-z0-9_-]{76})$/, "Must be the nextCursor of an earlier page.")
    .optional()
    .describe("`nextCursor` of the previous page."),
  order: z
    .enum([
      "newest",
      "oldest",
      "longest",
      "shortest",
      "most_tokens",
      "fewest_tokens",
      "most_expensive",
      "least_expensive",
    ])
    .default("newest")
    .describe("By duration, tokens and cost, the newest 10,000 traces that match are put in order."),
  kind: z.enum(["live", "test_run"]).optional(),
  path: z.enum(["canonical", "otlp"]).optional(),
  state: z
    .enum(["pending", "running", "waiting", "completed", "error", "none"])
    .optional()
    .describe(
      "State of the run shown in the list; waiting: running, and waiting for the judge; none: not evaluated.",
    ),
  verdict: z
    .enum([...Outcome.options, "none"])
    .optional()
    .describe("none: evaluated, but no test applied."),
  routing: z.enum(["ok", "not_needed", "no_user_input", "unavailable"]).optional(),
  failed: Flag.optional(),
  noise: Flag.optional().describe(
    "true: also traces that hold only an MCP client’s own spans, health checks or expressions of a workflow tool.",
  ),
  outage: Flag.optional().describe(
    "Whether checks were skipped because the judge was unavailable, and not judged since.",
  ),
  fullyEvaluated: Flag.optional().describe(
    "Whether all that the evaluation should have judged was; with `testId`, of the result of that test.",
  ),
  resultState: z
    .enum(resultStates)
    .optional()
    .describe("Failed traces with a failed result that is open, known or resolved."),
  httpStatus: queryNumber(z.number().int().min(100).max(999)).optional(),
  externalId: searchText(255)
    .optional()
    .describe("The whole id, as sent. An OTLP trace ID is found in any case."),
  tool: searchText(500).optional().describe("Traces that call the tool of this name."),
  model: searchText(500).optional().describe("Traces that call the model of this name."),
  provider: searchText(500)
    .optional()
    .describe("Traces that call a model of this provider, by the name that they send."),
  redacted: searchText(100)
    .optional()
    .describe(
      "Traces in which this privacy rule redacted something, by its name; `pseudonym` and `unchecked` are names, too.",
    ),
  conversationId: searchText(idsMax).optional().describe("The whole id, as sent or as answers show it."),
  userId: searchText(idsMax).optional().describe("The whole id, as sent or as answers show it."),
  testId: Id.optional().describe("Traces on which this test has a result."),
  testOutcome: Outcome.optional().describe("The outcome of the test `testId`."),
  testVersion: queryNumber(
    z
      .number()
      .int()
      .min(1)
      .max(2 ** 31 - 1),
  )
    .optional()
    .describe("The version of the test `testId` that was evaluated."),
  checkType: z
    .enum(assertionTypes)
    .optional()
    .describe("Traces with a result of a test that currently has an assertion of this type."),
  receivedFrom: Instant.optional(),
  receivedTo: Instant.optional(),
  durationMinMs: number.optional(),
  durationMaxMs: number.optional(),
  tokensMin: count.optional(),
  tokensMax: count.optional(),
  text: searchText(200)
    .optional()
    .describe("Text in the name, or in the first 500 characters of user input or response."),
  spanName: searchText(500).optional().describe(`Part of the name of a span, ignoring case. ${scanned}`),
  attribute: searchText(500)
    .optional()
    .describe(`Key of an attribute of a span, the one that \`spanName\` finds, or of a resource. ${scanned}`),
  attributeValue: searchText(500).optional().describe("The whole value of `attribute`, as text."),
  metadata: searchText(500).optional().describe(`Key in the metadata, or a path such as a.b. ${scanned}`),
  metadataValue: searchText(500).optional().describe("The whole value of `metadata`, as text."),
}).superRefine(notReversed("receivedFrom", "receivedTo"));

export type TraceQuery = z.output<typeof TraceQuery>;

/** A parameter, and the one without which it means nothing. */
const dependent = [
  ["testOutcome", "testId"],
  ["testVersion", "testId"],
  ["attributeValue", "attribute"],
  ["metadataValue", "metadata"],
] as const;

/** Throws VALIDATION_ERROR for parameters that contradict each other. */
export function requireConsistent(query: TraceQuery): void {
  const issues: Issue[] = dependent.flatMap(([name, needed]) =>
    query[name] !== undefined && !query[needed] ? [{ path: name, message: `Needs ${needed}.` }] : [],
  );
  if (spanFilterOf(query) && query.order !== "newest" && query.order !== "oldest") {
    issues.push({
      path: "order",
      message: "Must be newest or oldest together with spanName, attribute or metadata.",
    });
  }
  if (issues.length > 0) throw new Refusal("VALIDATION_ERROR", { issues });
}

/** What the store filters by, without `checkType`. */
export function filtersOf(query: TraceQuery): TraceFilters {
  const { cursor, limit, order, checkType, spanName, attribute, attributeValue, ...rest } = query;
  const { metadata, metadataValue, conversationId, userId, ...filters } = rest;
  return {
    ...filters,
    conversationId: conversationId && boundedId(conversationId),
    userId: userId && boundedId(userId),
  };
}

/** What to look for in the spans; undefined: nothing. */
export function spanFilterOf(query: TraceQuery): SpanFilter | undefined {
  const { spanName, attribute, attributeValue, metadata, metadataValue } = query;
  if (!spanName && !attribute && !metadata) return undefined;
  return {
    ...(spanName && { spanName }),
    ...(attribute && { attribute: { key: attribute, value: attributeValue } }),
    ...(metadata && { metadata: { key: metadata, value: metadataValue } }),
  };
}
