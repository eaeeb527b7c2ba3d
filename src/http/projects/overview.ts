// /api/agents/:id/overview: the last 24 hours of an agent against the same hours a week before, and what to look at.

import type { z } from "zod";
import type { Counts, Tally } from "../../model/run/outcome.ts";
import { scoreOf } from "../../model/run/run.ts";
import { listFailing } from "../../store/alerts/test-states.ts";
import type { Database } from "../../store/db.ts";
import { newest } from "../../store/listing.ts";
import { listAgentHours } from "../../store/runs/insights.ts";
import {
  countNotEvaluated,
  countOpen,
  countTraffic,
  listMissing,
  listSlowest,
  readAgentFacts,
  searchedMax,
  type Within,
} from "../../store/runs/overview.ts";
import { namesOfTests } from "../../store/test-cases.ts";
import { listTraces } from "../../store/trace-lists/list.ts";
import type { App, Deps } from "../frame/deps.ts";
import { routesOf } from "../frame/route.ts";
import { dayMs, lastDay } from "./insights-span.ts";
import { Overview } from "./overview-schemas.ts";

const weekMs = 7 * dayMs;
const rowsMax = 5;
const inputMax = 200;

export function registerOverview(app: App, { db }: Deps): void {
  const route = routesOf(app, "insights");
  route("GET /api/agents/:id/overview", {
    access: "tokens",
    summary: "Get an agent's last 24 hours, compared with a week before",
    description:
      "The hour in progress (UTC) and the 24 before it. Each number equals the length of the list that its filters give; see docs/api.md.",
    answer: Overview,
    handler: ({ id }) => readOverview(db, id, Date.now()),
  });
}

/** Work is bounded by the rows of 24 hours and the limits of `store/runs/overview.ts`, whatever the agent's traffic. */
export async function readOverview(
  db: Database,
  agentId: string,
  nowMs: number,
): Promise<z.input<typeof Overview>> {
  const { from, to } = lastDay(new Date(nowMs));
  const now = { from, to: new Date(nowMs) };
  const before = { from: weekEarlier(now.from), to: weekEarlier(now.to) };
  // Rollups have whole hours.
  const hours = { from, to };
  const [facts, traffic, trafficBefore, results, resultsBefore] = await Promise.all([
    readAgentFacts(db, agentId),
    countTraffic(db, agentId, now),
    countTraffic(db, agentId, before),
    readResults(db, agentId, { from: now.from, to: now.to }),
    readResults(db, agentId, { from: before.from, to: weekEarlier(hours.to) }),
  ]);
  const [open, failing, failures, slowest, missing] = await Promise.all([
    countOpen(db, agentId, now),
    listFailing(db, agentId, hours, rowsMax),
    listFailures(db, agentId, now),
    listSlowest(db, agentId, now, rowsMax),
    listMissing(db, agentId, hours, rowsMax),
  ]);
  // The search takes 8 ms, so it is left out where the counts show that there is nothing to find, or nothing else.
  const known = results.evaluated + open.pending.count + open.running.count + open.error.count;
  const notEvaluated =
    known === 0
      ? traffic
      : traffic.count === known && !traffic.atLeast
        ? { count: 0, atLeast: false }
        : await countNotEvaluated(db, agentId, now);
  return {
    lastTraceAt: facts.lastTraceAt,
    tests: facts.tests,
    eligibleTests: facts.eligibleTests,
    traffic: {
      now: { ...now, traces: traffic },
      before: { ...before, traces: trafficBefore },
    },
    results: { now: results, before: resultsBefore },
    open,
    notEvaluated,
    failing,
    failures,
    slowest: { searched: searchedMax, traces: slowest.map(briefView) },
    missing: missing.map(({ count, ...test }) => ({ ...test, results: count })),
  };
}

async function readResults(db: Database, agentId: string, within: Within) {
  const hours = await listAgentHours(db, agentId, within);
  const sum = (name: keyof Tally | "runs" | "routingUnavailable") =>
    // A verdict counted before a deletion may be taken back twice.
    Math.max(
      hours.reduce((total, hour) => total + hour[name], 0),
      0,
    );
  const counts: Counts = {
    passed: sum("passed"),
    failed: sum("failed"),
    skipped: sum("skipped"),
    missing_instrumentation: sum("missing_instrumentation"),
  };
  const evaluated = sum("runs");
  const notFullyEvaluated = sum("not_fully_evaluated");
  const verdicts = Object.values(counts).reduce((total, count) => total + count, notFullyEvaluated);
  return {
    ...within,
    evaluated,
    counts,
    notFullyEvaluated,
    passRate: scoreOf(counts),
    noVerdict: Math.max(evaluated - verdicts, 0),
    routingUnavailable: sum("routingUnavailable"),
  };
}

async function listFailures(db: Database, agentId: string, { from, to }: Within) {
  const filters = { kind: "live", verdict: "failed", receivedFrom: from, receivedTo: to } as const;
  const { rows } = await listTraces(db, agentId, filters, { before: newest, rowsMax });
  const names = await namesOfTests(
    db,
    rows.flatMap(({ run }) => run?.failedTestIds ?? []),
  );
  return rows.map(trace => ({
    ...briefView(trace),
    failedTests: (trace.run?.failedTestIds ?? []).flatMap(testId => {
      const name = names.get(testId);
      return name === undefined ? [] : [{ testId, name }];
    }),
  }));
}

function briefView<T extends { userInput: string | null }>(trace: T): T {
  return { ...trace, userInput: trace.userInput?.slice(0, inputMax).toWellFormed() ?? null };
}

function weekEarlier(time: Date): Date {
  return new Date(time.getTime() - weekMs);
}
