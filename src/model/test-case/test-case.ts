// Test cases: the document with its assertions and scenario, its validation, and readiness for activation.

import { z } from "zod";
import { isWithin } from "../path.ts";
import type { Issue } from "../refusal.ts";
import { Refusal } from "../refusal.ts";
import type { Assertion } from "./assertion.ts";
import { assertionInputSchema } from "./assertion.ts";
import { assertionIssues } from "./assertion-issues.ts";
import type { TestCaseDocument } from "./document.ts";
import { inputIssues, inputsMax, repeatsMax, withoutDefaults } from "./inputs.ts";
import { costIssues } from "./pattern-cost.ts";
import { unwrappedSchema } from "./schema-wrapper.ts";
import { sentenceOf, shapeIssues } from "./shape-issues.ts";
import { soundParts } from "./sound-parts.ts";

/** Nesting limit, the same as for traces. */
export const levelsMax = 200;
const issuesMax = 20;
const turnsMax = 100;
const sourcesMax = 1_000;
export const assertionsMax = 100;
const listsMax = { turns: turnsMax, inputs: inputsMax, assertions: assertionsMax };

const inputSchema = z.strictObject({ input: z.string().min(1).max(100_000) });
const repeatsRule = `Must be a whole number from 1 to ${repeatsMax}.`;

/** Of a test, or of a launch. */
export const repeatsSchema = z.int(repeatsRule).min(1, repeatsRule).max(repeatsMax, repeatsRule);

const traceIdSchema = z.guid("Must be a UUID.").toLowerCase();

/** The input of clients; absent fields get their defaults. */
export const testCaseInputSchema = z.strictObject({
  name: z
    .string()
    .max(200)
    .regex(/\S/, "Must not be blank.")
    .refine(isStorable, "Contains a character that cannot be displayed.")
    .meta({ pattern: "^[^\\x00]*[^\\x00\\s][^\\x00]*$" }),
  status: z.enum(["active", "disabled"]).default("active"),
  passiveBehavior: z.enum(["always_run", "run_when_relevant", "manual_only"]).default("run_when_relevant"),
  scenario: z.string().max(20_000).default(""),
  threshold: z.unknown().default(0.7),
  turns: z.array(inputSchema).max(turnsMax).default([]),
  inputs: z
    .array(inputSchema)
    .max(inputsMax, `At most ${inputsMax.toLocaleString("en-US")} inputs.`)
    .optional()
    .describe("Manual runs send each in place of the only turn's input. An empty list is the same as none."),
  repeats: repeatsSchema.optional().describe("How often manual runs send each input. Default: 1."),
  draftedFrom: z
    .union([traceIdSchema, z.array(traceIdSchema).max(sourcesMax)], "Must be a trace ID, or a list of them.")
    .optional()
    .describe("The trace whose words the test has, or several. Erasing one of them lists the test."),
  assertions: z.array(assertionInputSchema).max(assertionsMax).default([]),
});

type TestCaseInput = z.infer<typeof testCaseInputSchema>;

/** Parses a client's test case. Throws VALIDATION_ERROR with the path of each invalid field. */
export function parseTestCase(input: unknown): TestCaseDocument {
  return readDocument(input, issuesOfStatus);
}

function issuesOfStatus(document: TestCaseDocument): Issue[] {
  return document.status === "active" ? readinessIssues(document) : [];
}

/** Parses a draft: unlike a saved test, an active draft may be incomplete. */
export function parseDraft(input: unknown): TestCaseDocument {
  return readDocument(input, () => []);
}

/** `areChecked`: the patterns and schemas of the assertions are known to be valid, and need not be compiled. */
function readDocument(
  input: unknown,
  more: (document: TestCaseDocument) => Issue[],
  areChecked = false,
): TestCaseDocument {
  if (!isWithin(input, levelsMax))
    refuse([{ path: "", message: `Nested more than ${levelsMax} levels deep.` }]);
  const { assertions } = (input ?? {}) as { assertions?: unknown };
  const isTooLong = Array.isArray(assertions) && assertions.length > assertionsMax;
  const costly = areChecked || isTooLong ? [] : costIssues(assertions);
  if (costly.length > 0) refuse(costly);
  const read = testCaseInputSchema.safeParse(input, { error: issue => sentenceOf(issue) });
  if (!read.success) {
    const sound = soundParts(input, testCaseInputSchema.shape, listsMax);
    refuse([
      ...read.error.issues.flatMap(issue => shapeIssues(issue)),
      ...(sound ? issuesBeyondShape(completed(sound), more, areChecked) : []),
    ]);
  }
  const document = completed(read.data);
  const issues = issuesBeyondShape(document, more, areChecked);
  if (issues.length > 0) refuse(issues);
  return document;
}

function completed({ inputs, repeats, draftedFrom, assertions, ...rest }: TestCaseInput): TestCaseDocument {
  return { ...rest, ...withoutDefaults({ inputs, repeats, draftedFrom }), assertions: withIds(assertions) };
}

/** What the shape of the fields cannot express. */
function issuesBeyondShape(
  document: TestCaseDocument,
  more: (document: TestCaseDocument) => Issue[],
  areChecked: boolean,
): Issue[] {
  return [
    ...(areChecked ? [] : document.assertions.flatMap(issuesOfAssertion)),
    ...idIssues(document.assertions),
    ...turnIssues(document),
    ...inputIssues(document),
    ...more(document),
  ];
}

function issuesOfAssertion(assertion: Assertion, at: number): Issue[] {
  return assertionIssues(assertion).map(({ path, message }) => ({
    path: `assertions[${at}]${path}`,
    message,
  }));
}

/**
 * Applies a client's changed fields and validates the whole document. Assertions that stay as they are were checked when
 * they were saved; `areChecked` says so of those of the patch. Throws as parseTestCase does.
 */
export function mergeTestCase(
  current: TestCaseDocument,
  patch: unknown,
  areChecked: boolean = typeof patch === "object" && patch !== null && !("assertions" in patch),
): TestCaseDocument {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) {
    refuse([{ path: "", message: "Expected an object with the fields to change." }]);
  }
  return readDocument({ ...documentOf(current), ...patch }, issuesOfStatus, areChecked);
}

/** The document alone, without the ids and times that the service adds. */
export function documentOf(test: TestCaseDocument): TestCaseDocument {
  const { name, status, passiveBehavior, scenario, threshold, turns, assertions } = test;
  const { inputs, repeats, draftedFrom } = test;
  return {
    name,
    status,
    passiveBehavior,
    scenario,
    threshold,
    turns,
    ...withoutDefaults({ inputs, repeats, draftedFrom }),
    assertions,
  };
}

/** The copy kept with a result: what was evaluated, without the other inputs of the test and where it came from. */
export function evaluatedDocumentOf(test: TestCaseDocument): TestCaseDocument {
  const { inputs: _, repeats: __, draftedFrom: ___, ...document } = documentOf(test);
  return document;
}

/** Whether the value can be used as a semantic threshold. */
export function isThreshold(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= 1;
}

function withIds(assertions: TestCaseInput["assertions"]): Assertion[] {
  const taken = new Set(assertions.map(assertion => assertion.id));
  let next = 1;
  return assertions.map(({ id, depends_on, ...rest }) => {
    while (id === undefined && taken.has(`a${next}`)) next += 1;
    const settled = id ?? `a${next++}`;
    const schema = rest.type === "json_schema" ? { schema: unwrappedSchema(rest.schema) } : {};
    return { id: settled, ...rest, ...schema, depends_on: [...new Set([depends_on].flat())] } as Assertion;
  });
}

function turnIssues({ assertions, turns }: Pick<TestCaseDocument, "assertions" | "turns">): Issue[] {
  const count = Math.max(1, turns.length);
  return assertions.flatMap(({ turn }, at) =>
    typeof turn === "number" && turn > count
      ? [
          {
            path: `assertions[${at}].turn`,
            message: `Turn ${turn} does not exist: the test has ${count === 1 ? "one turn" : `${count} turns`}.`,
          },
        ]
      : [],
  );
}

function idIssues(assertions: Assertion[]): Issue[] {
  const known = new Map<string, Assertion>();
  const issues: Issue[] = [];
  for (const [at, assertion] of assertions.entries()) {
    const path = `assertions[${at}].id`;
    if (known.has(assertion.id)) issues.push({ path, message: "Another assertion has this ID." });
    known.set(assertion.id, assertion);
  }
  for (const [at, assertion] of assertions.entries()) {
    for (const id of assertion.depends_on) {
      if (!known.has(id))
        issues.push({ path: `assertions[${at}].depends_on`, message: `No assertion has the ID "${id}".` });
    }
  }
  // Of several with one ID, it is unknown which one the others depend on.
  if (known.size < assertions.length) return issues;
  const path = (assertion: Assertion) => `assertions[${assertions.indexOf(assertion)}].depends_on`;
  const circular = inCycles(assertions, new Set(known.keys())).map(assertion => ({
    path: path(assertion),
    message: "Circular dependency.",
  }));
  return [...issues, ...circular];
}

/** The assertions in dependency cycles, and those that depend on them. */
function inCycles(assertions: Assertion[], known: ReadonlySet<string>): Assertion[] {
  const done = new Set<string>();
  let waiting = assertions;
  for (;;) {
    const still = waiting.filter(
      assertion => !assertion.depends_on.every(id => done.has(id) || !known.has(id)),
    );
    if (still.length === waiting.length) return still;
    for (const assertion of waiting) if (!still.includes(assertion)) done.add(assertion.id);
    waiting = still;
  }
}

/** What is missing before the test can be active. */
export function readinessIssues(document: TestCaseDocument): Issue[] {
  const issues: Issue[] = [];
  if (document.assertions.length === 0) {
    issues.push({ path: "assertions", message: "An active test needs at least one assertion." });
  }
  if (document.turns.length === 0)
    issues.push({ path: "turns", message: "An active test needs at least one turn." });
  if (document.passiveBehavior === "run_when_relevant" && !/\S/.test(document.scenario)) {
    issues.push({ path: "scenario", message: "An active “Run when relevant” test needs a scenario." });
  }
  return issues;
}

function refuse(issues: Issue[]): never {
  const listed = issues.slice(0, issuesMax);
  const [first] = listed;
  const where = first?.path ? `${first.path}: ` : "";
  throw new Refusal("VALIDATION_ERROR", {
    message: `Invalid test case. ${where}${first?.message ?? ""}`,
    issues: listed,
  });
}

function isStorable(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}
