// Schedules further runs of chosen traces, with the tests of their last evaluation.

import type pg from "pg";
import { type AgainRefusal, testsAgain } from "../../model/run/tests-again.ts";
import type { TestCase } from "../../model/test-case/document.ts";
import { whyNotEligible } from "../../model/test-case/eligibility.ts";
import { placeOf } from "../cluster/routing.ts";
import { type Database, transaction } from "../db.ts";
import { newId } from "../new-id.ts";
import { multiRow } from "../parameters/multi-row.ts";
import { listForAgent } from "../test-cases.ts";
import { decodeDetail, encodeDetail } from "./detail.ts";
import { hasOpenRun, idAfterRunsOf, opaque } from "./of-traces.ts";

export type Again = {
  runs: { runId: string; traceId: string }[];
  refused: { traceId: string; reason: AgainRefusal }[];
};

// The details of so many runs are read at a time: each blocks the thread for up to a millisecond.
const tracesAtOnce = 50;

/**
 * Schedules a run, due now, of each of these live traces of the agent. Changing a test never evaluates traces again, so the run
 * has the tests in the versions of the trace's last completed run; of a trace that no test has judged, the tests as they are.
 */
export async function evaluateAgain(db: Database, agentId: string, traceIds: string[]): Promise<Again> {
  const wanted = [...new Set(traceIds.map(id => id.toLowerCase()))].sort();
  const tests = new Map((await listForAgent(db, agentId)).map(test => [test.id, test]));
  const all: Again = { runs: [], refused: [] };
  for (let at = 0; at < wanted.length; at += tracesAtOnce) {
    const { runs, refused } = await scheduleSome(db, agentId, wanted.slice(at, at + tracesAtOnce), tests);
    all.runs.push(...runs);
    all.refused.push(...refused);
  }
  return all;
}

type Found = {
  traceId: string;
  kind: "live" | "test_run";
  hasContent: boolean;
  underWay: boolean;
  evaluated: boolean;
  detail: Buffer | null;
};

async function scheduleSome(
  db: Database,
  agentId: string,
  traceIds: string[],
  tests: ReadonlyMap<string, TestCase>,
): Promise<Again> {
  return transaction(await placeOf(db, agentId), async client => {
    const found = new Map((await readLast(client, agentId, traceIds)).map(row => [row.traceId, row]));
    const planned: Item[] = [];
    const refused: Again["refused"] = [];
    for (const traceId of traceIds) {
      const plan = planOf(agentId, found.get(traceId), tests);
      if (typeof plan === "string") refused.push({ traceId, reason: plan });
      else planned.push({ traceId, plan });
    }
    const runs = planned.length > 0 ? await insertRuns(client, agentId, planned) : [];
    const scheduled = new Set(runs.map(({ traceId }) => traceId));
    for (const { traceId } of planned) {
      if (!scheduled.has(traceId)) refused.push({ traceId, reason: "in_progress" });
    }
    return { runs, refused };
  });
}

/** Locks the traces in the order of ids, as when batches are stored, so that none is deleted in the meantime. */
async function readLast(client: pg.PoolClient, agentId: string, traceIds: string[]): Promise<Found[]> {
  const { rows } = await client.query<Found>(
    `with wanted as materialized (
       select id, kind, content from traces where agent_id = $1 and id = any ($2::uuid[]) order by id for key share
     )
     select wanted.id as "traceId", wanted.kind, wanted.content is null as "hasContent",
       last.id is not null as evaluated, last.detail,
       ${hasOpenRun("$1", "wanted.id")} as "underWay"
     from wanted left join lateral (
       select id, detail from runs
       where trace_id = wanted.id and state = ${opaque("completed")} and kind <> 'manual' order by id desc limit 1
     ) last on true`,
    [agentId, traceIds],
  );
  return rows;
}

function planOf(
  agentId: string,
  found: Found | undefined,
  current: ReadonlyMap<string, TestCase>,
): Buffer | AgainRefusal {
  if (!found) return "not_found";
  if (found.kind === "test_run") return "test_run";
  if (found.underWay) return "in_progress";
  if (!found.hasContent) return "content_not_stored";
  const { used, tests } = found.evaluated
    ? testsAgain({ agentId, ...decodeDetail(found.detail) }, current)
    : { used: 0, tests: [] };
  if (used === 0) {
    const eligible = [...current.values()].filter(test => whyNotEligible(test) === null);
    return eligible.length > 0 ? encodePlan(eligible) : "never_evaluated";
  }
  return tests.length > 0 ? encodePlan(tests) : "tests_deleted";
}

function encodePlan(tests: TestCase[]): Buffer {
  return encodeDetail({ results: [], tests: [], plan: tests });
}

type Item = { traceId: string; plan: Buffer };

const items = multiRow<Item>(2, {
  trace_id: ["uuid", ({ traceId }) => traceId],
  run_id: ["uuid", newId],
  detail: ["bytes", ({ plan }) => plan],
});

async function insertRuns(client: pg.PoolClient, agentId: string, planned: Item[]): Promise<Again["runs"]> {
  const { rows } = await client.query<{ runId: string; traceId: string }>(
    `insert into queue (id, trace_id, agent_id, due_at, cause, detail)
     select ${idAfterRunsOf("$1", "item.trace_id", "item.run_id")}, item.trace_id, $1, now(), 'again', ${items.bytes("detail")}
     from ${items.from}
     on conflict do nothing
     returning id as "runId", trace_id as "traceId"`,
    [agentId, ...items.values(planned)],
  );
  return rows;
}
