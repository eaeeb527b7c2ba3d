// /api/runs/:id/labels and /api/projects/:id/labels: what people say about the judge's answers.

import { z } from "zod";
import { keyOfLabeled } from "../../judge/keys.ts";
import { readByOf } from "../../model/agent/read-by.ts";
import { agrees, kindOf, type LabelJudge, type LabelQuestion } from "../../model/judge/label.ts";
import { Refusal } from "../../model/refusal.ts";
import type { Database } from "../../store/db.ts";
import {
  deleteLabel,
  findJudgeOfRun,
  type LabelFilters,
  type LabelRow,
  type LabelWithQuestion,
  listLabels,
  listLabelsOfRun,
  readQuestions,
  saveLabel,
} from "../../store/judge/labels.ts";
import { decodeDetail } from "../../store/runs/detail.ts";
import { findRun, type RunWithDetail } from "../../store/runs/read.ts";
import { listWholeTurns } from "../../store/runs/turns.ts";
import { findTraceSize } from "../../store/traces/read.ts";
import type { TraceParts } from "../../trace-reader.ts";
import type { App, Deps } from "../frame/deps.ts";
import { found, listingOf, PageQuery, pageOf } from "../frame/page.ts";
import { routesOf } from "../frame/route.ts";
import { Flag, pageSchema, queryNumber } from "../frame/schemas.ts";
import { type Judged, judgedIn } from "./label-question.ts";
import { Label, LabelBody, LabelFilter, LabelSet, ListedLabel } from "./label-schemas.ts";

// The labels of larger traces count, but the judge cannot be asked the same again.
const traceBytesMax = 32 * 1024 * 1024;
/** A page of a set ends after this many characters. */
const setLengthMax = 20_000_000;
const setMax = 1_000;

type LabelDeps = Pick<Deps, "db"> & { reader: Pick<TraceParts, "question"> };

export function registerLabels(app: App, deps: Deps & LabelDeps): void {
  registerLabelsOfRuns(app, deps);
  registerLabelsOfProjects(app, deps.db);
}

function registerLabelsOfRuns(app: App, { db, reader }: LabelDeps): void {
  const route = routesOf(app, "judge");
  route("GET /api/runs/:id/labels", {
    access: "tokens",
    summary: "List the labels of a run",
    answer: z.object({ items: z.array(Label) }),
    handler: async ({ id }) => ({ items: await listLabelsOfRun(db, id) }),
  });

  route("PUT /api/runs/:id/labels", {
    access: "session",
    summary: "Label a check or a scenario match: whether the judge was right",
    body: LabelBody,
    answer: Label,
    handler: ({ id, body, account }) => label({ db, reader }, id, body, account.id),
  });

  route("DELETE /api/labels/:id", {
    access: "session",
    summary: "Delete a label",
    handler: ({ id }) => deleteLabel(db, id),
  });
}

function registerLabelsOfProjects(app: App, db: Database): void {
  const route = routesOf(app, "judge");
  route("GET /api/projects/:id/labels", {
    access: "tokens",
    summary: "List the labels of a project, newest first",
    query: PageQuery.extend({
      ...LabelFilter.shape,
      agrees: Flag.optional().describe("Whether the judge was right."),
      disputed: Flag.optional().describe("Whether somebody else labels the same answer differently."),
    }),
    answer: pageSchema(ListedLabel),
    handler: async ({ id: projectId, query: { cursor, limit, ...filters } }) => {
      const page = { cursor, limit };
      return pageOf(await listLabels(db, { projectId, ...filters }, listingOf(page)), page);
    },
  });

  route("GET /api/projects/:id/labels/set", {
    access: "tokens",
    summary: "Export labels with what the judge was asked, as a set for the judge benchmark",
    query: PageQuery.extend({
      ...LabelFilter.shape,
      limit: queryNumber(z.number().int().min(1).max(setMax)).prefault(setMax),
    }),
    answer: LabelSet,
    handler: async ({ id: projectId, query: { cursor, limit, ...filters } }) =>
      setOf(db, { projectId, ...filters }, { cursor, limit }),
  });
}

/** Throws CONFLICT, NOT_FOUND or VALIDATION_ERROR if the judge gave no such answer in this run. */
async function label(
  deps: LabelDeps,
  runId: string,
  { testId, checkId, answer, note }: z.output<typeof LabelBody>,
  createdBy: string,
) {
  const { db } = deps;
  const run = found(await findRun(db, runId));
  if (run.traceId === null || run.state !== "completed") {
    throw new Refusal("CONFLICT", {
      hint: "Only completed evaluations whose trace is stored can be labeled.",
    });
  }
  const judged = judgedIn(decodeDetail(run.detail), testId, checkId);
  if (!judged)
    throw new Refusal("NOT_FOUND", {
      hint: "The judge was not asked about this check or scenario match in this run.",
    });
  if (kindOf(judged.answer) !== kindOf(answer)) {
    const allowed = checkId === null ? "match or no_match" : "pass or fail";
    throw new Refusal("VALIDATION_ERROR", {
      issues: [{ path: "answer", message: `Must be ${allowed}.` }],
    });
  }
  const by = judged.by ?? (await findJudgeOfRun(db, run.id)) ?? unknownJudge;
  const question = await currentQuestion(deps, run, judged, checkId);
  return stillThere(
    await saveLabel(db, {
      ...{ agentId: run.agentId, testId, traceId: run.traceId, runId: run.id, checkId },
      ...{ judged: judged.answer, answer, agrees: agrees(judged.answer, answer), note },
      ...{ testVersion: judged.testVersion, ...by, question, createdBy },
      answerKey: question && answerKeyOf(question, run.agentId, by),
    }),
  );
}

/** Of an undecided check, once the calls of its run are deleted. */
const unknownJudge: LabelJudge = { provider: null, model: "", promptVersion: "" };

function answerKeyOf(
  question: LabelQuestion,
  agentId: string,
  { provider, model, promptVersion }: LabelJudge,
): string {
  const identity = { projectId: agentId, promptVersion, provider: provider ?? "openai_compatible", model };
  return keyOfLabeled(question, { ...identity, url: null });
}

/**
 * Null if the trace has changed since the run, or is too large. Of a manual run of several turns, too: the question would quote
 * traces that the label is not deleted with.
 */
async function currentQuestion(
  { db, reader }: LabelDeps,
  run: RunWithDetail,
  { result: { test, testId } }: Judged,
  checkId: string | null,
): Promise<LabelQuestion | null> {
  const size = await findTraceSize(db, run.traceId!);
  if (!size || size.revision !== run.revision || size.bytes > traceBytesMax) return null;
  const turns = run.kind === "manual" ? await listWholeTurns(db, run.id) : [];
  if (turns.length > 1) return null;
  const { revision, traceId } = size;
  const readBy = readByOf(decodeDetail(run.detail));
  const asked = { traceId, revision, readBy, turn: turns[0], result: { test, testId }, checkId };
  return (await reader.question(asked).catch(unlessTooLarge))?.question ?? null;
}

function stillThere(saved: LabelRow | undefined): LabelRow {
  if (saved) return saved;
  throw new Refusal("NOT_FOUND", { hint: "The test or the trace was deleted." });
}

function unlessTooLarge(error: unknown): null {
  if (error instanceof Refusal) return null;
  throw error;
}

async function setOf(
  db: Database,
  filters: LabelFilters,
  page: z.output<typeof PageQuery>,
): Promise<LabelSet> {
  const labels: LabelWithQuestion[] = [];
  let read = 0;
  let length = 0;
  let last: string | null = null;
  let full = false;
  for await (const label of readQuestions(db, filters, listingOf(page))) {
    full = read === page.limit || length > setLengthMax;
    if (full) break;
    read += 1;
    last = label.id;
    if (label.question === null) continue;
    labels.push(label);
    length += JSON.stringify(label.question).length;
  }
  const { items, nextCursor } = pageOf(labels, page, full ? last : null);
  return {
    kind: "labels",
    about: "Labels of a project: what the judge was asked, and what people say the answer should be.",
    labels: items.map(
      ({ testName: test, checkId, judged, answer, note, provider, model, promptVersion, question }) => ({
        ...{ test, checkId, judged, answer, note, provider, model, promptVersion, question },
      }),
    ),
    nextCursor,
  };
}
