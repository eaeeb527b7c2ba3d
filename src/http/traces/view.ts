// Maps stored traces and runs to API responses.

import { readByOf } from "../../model/agent/read-by.ts";
import type { PriceList } from "../../model/price/price.ts";
import type { Counts } from "../../model/run/outcome.ts";
import type { Waiting } from "../../model/run/run.ts";
import type { TestCase } from "../../model/test-case/document.ts";
import { whyNotEligible } from "../../model/test-case/eligibility.ts";
import type { Notice, TraceKind } from "../../model/trace/trace.ts";
import { totalOf } from "../../reading/derived/tokens.ts";
import { costOfUsage, costView, decodeUsage, priceDayOf } from "../../reading/derived/usage.ts";
import { decodeDetail } from "../../store/runs/detail.ts";
import type { RunOfTrace, RunRow, RunWithDetail } from "../../store/runs/read.ts";
import type { ListedTrace as ListedTraceRow } from "../../store/trace-lists/list.ts";
import type { TraceRow } from "../../store/traces/read.ts";
import type { OutlinePart, WholePart } from "../../trace-reader/parts.ts";
import type { Run, RunDetail } from "./run-schemas.ts";
import type { ListedTrace, TestOnTrace } from "./schemas.ts";

const time = (value: Date | string): string => new Date(value).toISOString();

export function runView(run: RunRow): Run {
  const counts: Counts | null =
    run.passed === null
      ? null
      : {
          passed: run.passed,
          failed: run.failed ?? 0,
          skipped: run.skipped ?? 0,
          missing_instrumentation: run.missing_instrumentation ?? 0,
        };
  return {
    id: run.id,
    traceId: run.traceId,
    agentId: run.agentId,
    revision: run.revision,
    kind: run.kind,
    launchId: run.launchId,
    state: run.state,
    dueAt: time(run.dueAt),
    createdAt: time(run.createdAt),
    startedAt: run.startedAt && time(run.startedAt),
    finishedAt: run.finishedAt && time(run.finishedAt),
    attempts: run.attempts,
    routing: run.routing,
    verdict: run.verdict,
    score: run.score,
    counts,
    error: run.error,
    cause: run.cause,
    fullyEvaluated: run.state === "completed" ? run.fullyEvaluated : null,
    outage: run.outage,
    waiting: waitingView(run),
  };
}

function waitingView({ nextTryAt, judgeDeadlineAt, waitingReason }: RunRow): Waiting | null {
  if (nextTryAt === null || judgeDeadlineAt === null || waitingReason === null) return null;
  return { nextTryAt: time(nextTryAt), until: time(judgeDeadlineAt), reason: waitingReason };
}

export function runDetailView(run: RunWithDetail): RunDetail {
  const detail = decodeDetail(run.detail);
  const { results, tests } = detail;
  return { ...runView(run), results, tests, ...readByOf(detail), judging: run.judging };
}

function traceColumnsView(trace: TraceRow) {
  const { inputTokens: input, outputTokens: output, reasoningTokens: reasoning } = trace;
  return {
    id: trace.id,
    agentId: trace.agentId,
    externalId: trace.externalId,
    kind: trace.kind,
    path: trace.path,
    name: trace.name,
    revision: trace.revision,
    receivedAt: time(trace.receivedAt),
    updatedAt: time(trace.updatedAt),
    contentForgottenAt: trace.contentForgottenAt && time(trace.contentForgottenAt),
    durationMs: trace.durationMs,
    httpStatus: trace.httpStatus,
    tokens: {
      input,
      output,
      reasoning,
      cached: trace.cachedTokens,
      total: totalOf(input, output),
    },
    failed: trace.failed,
    spanCount: trace.spanCount,
    userInput: trace.userInput,
    responseText: trace.responseText,
    conversationId: trace.conversationId,
    userId: trace.userId,
  };
}

/** How many failed tests of a trace a list names. */
export const failedTestsMax = 5;

/** `names`: of tests by id, without deleted ones. `prices`: of the project. */
export function listedTraceView(
  { run, ...trace }: ListedTraceRow,
  names: Map<string, string>,
  prices: PriceList,
): ListedTrace {
  const failedTests = (run?.failedTestIds?.slice(0, failedTestsMax) ?? []).flatMap(id => {
    const name = names.get(id);
    return name === undefined ? [] : [{ id, name }];
  });
  const cost = costOfUsage(decodeUsage(trace.usage), prices, priceDayOf(trace.receivedAt));
  return {
    ...traceColumnsView(trace),
    ...costView(cost),
    redacted: trace.redacted ?? [],
    run: run && runView(run),
    failedTests,
  };
}

/** Without spans and derived values, which are JSON already: those of the row may be from an earlier revision. */
export function wholeTraceView(
  row: TraceRow,
  { notices, revision }: Pick<WholePart, "notices" | "revision">,
  runs: RunOfTrace[],
  tests: TestCase[],
) {
  const { id, agentId, externalId, kind, path, receivedAt, updatedAt, contentForgottenAt } =
    traceColumnsView(row);
  return {
    ...{ id, agentId, externalId, kind, path, revision, receivedAt, updatedAt, contentForgottenAt },
    ...judgedView(noticesOf(kind, notices), revision, runs, tests),
  };
}

/** Without the spans, which are JSON already. */
export function traceOutlineView(
  row: TraceRow,
  head: OutlinePart["head"],
  runs: RunOfTrace[],
  tests: TestCase[],
) {
  return {
    ...traceColumnsView(row),
    ...head,
    ...judgedView(noticesOf(row.kind, head.notices), head.revision, runs, tests),
  };
}

/** In a manual run, a missing root is expected: the parent of the first span is the request that the run sent. */
function noticesOf(kind: TraceKind, notices: Notice[]): Notice[] {
  if (kind === "live" || !notices.includes("no_root")) return notices;
  return notices.filter(notice => notice !== "no_root" && notice !== "orphan_spans");
}

/** Runs, tests and notices of the trace at this revision. */
function judgedView(derived: Notice[], revision: number, runs: RunOfTrace[], tests: TestCase[]) {
  const completed = runs.find(run => run.state === "completed");
  const notices = [...derived];
  if (completed?.routing === "unavailable") notices.push("routing_unavailable");
  if (completed && completed.revision !== revision) notices.push("judged_earlier_revision");
  if (runs.some(run => run.traceDiffers)) notices.push("trace_differs");
  // As in lists.
  const isOpen = ({ state }: RunOfTrace) => state === "pending" || state === "running";
  const latest = completed ?? runs.find(isOpen) ?? runs[0] ?? null;
  return {
    run: latest && runView(latest),
    notices,
    runs: runs.map(runDetailView),
    tests: testsView(runs, completed, tests),
  };
}

/** From the latest completed run, else the running one; for other tests, from their current state. */
function testsView(
  runs: RunWithDetail[],
  completed: RunWithDetail | undefined,
  tests: TestCase[],
): TestOnTrace[] {
  const run = completed ?? runs.find(run => run.state === "running" && run.detail !== null);
  const evaluated = run ? decodeDetail(run.detail).tests : [];
  const known = new Set(evaluated.map(test => test.testId));
  const open = runs.some(run => run.state === "pending" || run.state === "running");
  const others = tests
    .filter(test => !known.has(test.id))
    .map((test): TestOnTrace => {
      const why = whyNotEligible(test) ?? (open ? "pending" : "not_evaluated");
      return { testId: test.id, name: test.name, applied: false, why };
    });
  return [...evaluated, ...others];
}
