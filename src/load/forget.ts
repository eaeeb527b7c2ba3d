// Forgets traces: opens them, leaves their structure as an agent without content would have stored it, and stores that.

import { type LoadedTrace, openEach } from "../load.ts";
import { type ReadBy, readByOf } from "../model/agent/read-by.ts";
import { attributeFilter } from "../model/content/attribute-rules.ts";
import type { StoringRules } from "../model/privacy.ts";
import { countIn, rulesOf, sumOf } from "../model/redaction.ts";
import { Refusal } from "../model/refusal.ts";
import { mergeBatches } from "../model/trace/merge.ts";
import type { Batch, TracePath } from "../model/trace/trace.ts";
import { withoutContent } from "../reading/content/structure.ts";
import { readTraceBy } from "../reading/conventions/read-by.ts";
import { columnsOf, namesMax, type TraceColumns } from "../reading/derived/columns.ts";
import { derive } from "../reading/derived/derive.ts";
import { boundedId, IdSpans, idsOf } from "../reading/derived/identity.ts";
import { redactorOf } from "../redaction/of-project.ts";
import type { Redacted } from "../redaction.ts";
import {
  forgetContent,
  type StructureBatch,
  type StructureNames,
  type TraceStructure,
} from "../store/content/forget.ts";
import type { ForgettingSettings } from "../store/content/settings.ts";
import type { Database } from "../store/db.ts";
import { loadBatches, type StoredBatches } from "../store/traces/batches.ts";
import { spanKeysOf } from "../store/traces/span-keys.ts";
import { encodeBatch, readBatch, readResource, scan } from "../wire/batch.ts";
import type { HeapSemaphore } from "./heap-semaphore.ts";

/** Forgotten in one transaction, which takes few statements however many there are. */
const atOnce = 20;
const bytesAtOnce = 4 * 1024 * 1024;

/** `settings`: those of the agents, as they are now. */
export type ToForget = { traceIds: string[]; runIds: string[]; settings: ForgettingSettings[] };

/** Those that were forgotten; the others are not due any more, or changed meanwhile, or their agents' settings did. */
export async function forgetTraces(
  db: Database,
  heap: HeapSemaphore,
  { traceIds, runIds, settings }: ToForget,
  signal?: AbortSignal,
): Promise<{ traces: { traceId: string; agentId: string }[] }> {
  const byAgent = new Map(settings.map(one => [one.agentId, one]));
  const forgotten: { traceId: string; agentId: string }[] = [];
  let open: TraceStructure[] = [];
  let bytes = 0;
  const add = (structure: TraceStructure | null) => {
    if (!structure) return;
    open.push(structure);
    bytes += structure.batches.reduce((sum, batch) => sum + batch.bytes.length, 0);
  };
  const store = async (runs: string[] = []) => {
    if (open.length + runs.length === 0) return;
    const done = new Set((await forgetContent(db, open, runs)).traceIds);
    forgotten.push(...open.filter(({ traceId }) => done.has(traceId)));
    open = [];
    bytes = 0;
  };
  await store(runIds);
  for await (const outcome of openEach(db, traceIds, heap, signal ? { signal } : {})) {
    if ("missing" in outcome) continue;
    if ("error" in outcome) throw outcome.error;
    if ("refusal" in outcome) add(await structureInParts(db, outcome.traceId, byAgent));
    else {
      try {
        const by = byAgent.get(outcome.loaded.agentId);
        add(by ? structureOf(outcome.loaded, by) : null);
      } finally {
        outcome.release();
      }
    }
    if (open.length >= atOnce || bytes >= bytesAtOnce) await store();
  }
  await store();
  return { traces: forgotten.map(({ traceId, agentId }) => ({ traceId, agentId })) };
}

/**
 * One batch with the structure of the whole trace, as conventions read it now: batch by batch they would read less. Tokens,
 * cost, times and status stay as they are; names, tools, models and ids are those that the structure still has.
 */
function structureOf(
  { traceId, agentId, revision, trace, derived, ...by }: LoadedTrace,
  settings: ForgettingSettings,
): TraceStructure {
  const { path, spans, resource, metadata, redactions, content } = trace;
  const batch = { spans, resource, metadata, ...(redactions && { redactions }), ...(content && { content }) };
  const left = leftOf(batch, path, by, settings);
  const columns = columnsLeft(columnsOf(derived, rulesOf(left.redactions)), left, path, by);
  return { traceId, agentId, revision, settings, batches: [encoded(left)], columns, names: columns };
}

/** What an agent without content would store of the batch by the settings of now, with what is redacted in it. */
function leftOf(
  batch: Batch,
  path: TracePath,
  by: ReadBy,
  { attributes, storing }: ForgettingSettings,
): Batch {
  const { redactions: before, ...sent } = batch;
  const left = withoutContent(attributeFilter(attributes)(sent), path, readByOf(by), "forgotten");
  const structure = attributeFilter({ ...attributes, allow: null })(left);
  const { value, counts } = redactedBy(structure, storing, new Set(rulesOf(before)));
  const redactions = sumOf([countIn(value, rulesOf({ ...before, ...counts }))]);
  return redactions ? { ...value, redactions } : value;
}

/** Where the key of pseudonyms cannot be read, content goes all the same, and the ids that would need it, too. */
function redactedBy(
  structure: Batch,
  storing: StoringRules | null,
  known: ReadonlySet<string>,
): Redacted<Batch> {
  const redactor = storing && redactorOf(storing);
  if (!redactor) return { value: structure, counts: {} };
  try {
    return redactor.batch(structure, { known });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const withoutIds = attributeFilter({ deny: [...idAttributes, ...storing.rules.pseudonyms], allow: null });
    return redactor.batch(withoutIds(structure), { known });
  }
}

const idAttributes = ["user.id", "session.id", "gen_ai.conversation.id"];

function columnsLeft(columns: TraceColumns, left: Batch, path: TracePath, by: ReadBy): TraceColumns {
  const names = namesOf(left, path, by);
  return { ...columns, ...names, userInput: null, responseText: null };
}

type Names = StructureNames & Pick<TraceColumns, "name">;

/** `idSpans`: gets the spans. */
function namesOf(left: Batch, path: TracePath, by: ReadBy, idSpans?: IdSpans): Names {
  const { trace, reading } = readTraceBy(mergeBatches([left], path), readByOf(by), undefined, "columns");
  idSpans?.add(trace.spans);
  const columns = columnsOf(derive(trace, undefined, reading, "columns"), []);
  const { name, tools, models, providers, conversationId, userId } = columns;
  return { name, tools, models, providers, conversationId, userId };
}

/** Of a trace that is too large to be opened: each of its batches separately. Log records about its spans go. */
async function structureInParts(
  db: Database,
  traceId: string,
  byAgent: Map<string, ForgettingSettings>,
): Promise<TraceStructure | null> {
  const stored = (await loadBatches(db, [traceId])).loaded.get(traceId);
  const settings = stored && byAgent.get(stored.agentId);
  if (!stored || !settings) return null;
  const { agentId, revision, path } = stored;
  const batches: StructureBatch[] = [];
  const names: Names[] = [];
  const idSpans = new IdSpans();
  for (const batch of readEach(stored)) {
    if (batch.logRecords) continue;
    const left = leftOf(batch, path, stored, settings);
    batches.push(encoded(left));
    names.push(namesOf(left, path, stored, idSpans));
  }
  return { traceId, agentId, revision, settings, batches, columns: null, names: joinedNames(names, idSpans) };
}

/** Structures have ids as documented attributes only: they are read as those of one trace are, and not batch by batch. */
function joinedNames(parts: Names[], { spans }: IdSpans): StructureNames {
  const { userId, conversationId } = idsOf(spans, null);
  const all = (of: "tools" | "models" | "providers") =>
    [...new Set(parts.flatMap(part => part[of]))].slice(0, namesMax);
  return {
    tools: all("tools"),
    models: all("models"),
    providers: all("providers"),
    userId: userId && boundedId(userId),
    conversationId: conversationId && boundedId(conversationId),
  };
}

function* readEach({ batches }: StoredBatches): Generator<Batch> {
  for (const { spans, resource } of batches)
    yield readBatch(scan(spans), resource ? readResource(scan(resource)) : undefined);
}

function encoded(batch: Batch): StructureBatch {
  return { ...encodeBatch(batch), spanCount: batch.spans.length, spanKeys: spanKeysOf(batch.spans) };
}
