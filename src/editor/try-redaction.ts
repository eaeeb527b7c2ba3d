// Tries redaction rules on the latest traces of a project; stores nothing.

import type { HeapSemaphore } from "../load/heap-semaphore.ts";
import { withTrace } from "../load.ts";
import { activeBuiltIn, type RedactionRules, rulesOf } from "../model/redaction.ts";
import { Refusal } from "../model/refusal.ts";
import type { FoundValues } from "../redaction/walk.ts";
import { Work, workMax } from "../redaction/work.ts";
import { openRedactor } from "../redaction.ts";
import type { Clock } from "../remote/clock.ts";
import type { Database } from "../store/db.ts";
import { listLatestOfProject } from "../store/traces/read.ts";

export type RedactionTrialRequest = { projectId: string; rules: RedactionRules };

export type RedactionTrial = {
  /** Read; `skipped`: too large, or no time was left. */
  traces: number;
  skipped: number;
  changed: number;
  values: number;
  rules: {
    rule: string;
    values: number;
    traces: number;
    examples: ({ traceId: string; agentId: string } & Pick<FoundValues, "spanId" | "in" | "path">)[];
  }[];
};

const tracesMax = 100;
const examplesMax = 3;
const trialMs = 10_000;
const bytesMax = 64 * 1024 * 1024;

export async function tryRedaction(
  { db, heap, clock }: { db: Database; heap: HeapSemaphore; clock: Pick<Clock, "now"> },
  { projectId, rules }: RedactionTrialRequest,
  signal: AbortSignal,
): Promise<RedactionTrial> {
  const redactor = openRedactor(rules, () => "p_");
  const names = [...activeBuiltIn(rules.builtIn), ...rules.rules.map(({ name }) => name)];
  const found = new Map<string, RedactionTrial["rules"][number]>();
  for (const rule of names) found.set(rule, { rule, values: 0, traces: 0, examples: [] });
  const trial = { traces: 0, skipped: 0, changed: 0, values: 0 };
  const work = new Work(workMax);
  const until = clock.now() + trialMs;
  let bytesLeft = bytesMax;
  for (const { id, agentId, bytes } of await listLatestOfProject(db, projectId, tracesMax)) {
    if (bytes > bytesLeft || clock.now() > until || signal.aborted) {
      trial.skipped++;
      continue;
    }
    bytesLeft -= bytes;
    const redactions = await withTrace(db, id, heap, ({ trace }) => {
      const all: FoundValues[] = [];
      const known = new Set(rulesOf(trace.redactions));
      redactor?.batch(trace, { work, known, onFound: found => all.push(found) });
      return all;
    }).catch((error: unknown) => {
      if (error instanceof Refusal) return undefined;
      throw error;
    });
    if (!redactions) {
      trial.skipped++;
      continue;
    }
    trial.traces++;
    if (redactions.length > 0) trial.changed++;
    trial.values += add(found, redactions, { traceId: id, agentId });
  }
  return { ...trial, rules: [...found.values()] };
}

function add(
  found: Map<string, RedactionTrial["rules"][number]>,
  redactions: FoundValues[],
  trace: { traceId: string; agentId: string },
): number {
  const seen = new Set<string>();
  let values = 0;
  for (const { rule, count, spanId, in: where, path } of redactions) {
    let one = found.get(rule);
    if (!one) {
      one = { rule, values: 0, traces: 0, examples: [] };
      found.set(rule, one);
    }
    one.values += count;
    values += count;
    if (!seen.has(rule)) one.traces++;
    seen.add(rule);
    if (one.examples.length < examplesMax) one.examples.push({ ...trace, spanId, in: where, path });
  }
  return values;
}
