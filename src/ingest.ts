// Ingests traces: checks key, verified email and media type, reads the body, resolves the agent, stores and schedules.
import { hash } from "node:crypto";
import {
  type Admitting,
  type FindKey,
  type FindStoring,
  findKey,
  type IngestRequest,
  ownersOf,
  readersOf,
  withBody,
} from "./ingest/admit.ts";
import { answersOf } from "./ingest/answers.ts";
import { inTurns } from "./ingest/in-turns.ts";
import { intakeOf } from "./ingest/intake.ts";
import type { PreparedBody } from "./ingest/prepare.ts";
import type { PreparedResource, RefusedGroup } from "./ingest/prepare-groups.ts";
import type { PreparedBatch } from "./ingest/prepared.ts";
import type { Preparer } from "./ingest/preparer.ts";
import { readRequestId } from "./ingest/request-id.ts";
import { agentOfGroup, agentOfHint, type FindAgents, namedAgent } from "./ingest/resolve-agent.ts";
import { sampleBody } from "./ingest/sample.ts";
import { whileChanging } from "./ingest/while-changing.ts";
import { type IngestionAnswer, refusedWhole } from "./model/ingestion.ts";
import type { AdmittedKey } from "./model/key.ts";
import { Refusal } from "./model/refusal.ts";
import type { TracePath } from "./model/trace/trace.ts";
import { asUnavailable } from "./store/db.ts";
import { newId } from "./store/new-id.ts";
import type { SharedResource, Stored, TraceWrite } from "./store/traces/write.ts";
import type { TraceWriter } from "./store/traces/writer.ts";

export type { IngestRequest };

export type StoredTrace = Stored & {
  agentId: string;
  externalId: string;
  path: TracePath;
  /** Null on the canonical path. */
  serviceName: string | null;
  /** Distinct spans of this batch that were stored. */
  spanCount: number;
};

export type IngestOutcome =
  | { path: "canonical"; trace: StoredTrace }
  /** At least one is stored. */
  | { path: "otlp"; stored: StoredTrace[]; refused: RefusedGroup[]; traces: number };

export type IngestDeps = FindAgents &
  FindKey &
  Admitting &
  FindStoring & {
    preparer: Preparer;
    writer: TraceWriter;
    /** Called for every accepted trace, before the answer. */
    onStored: (trace: StoredTrace) => void;
    /** Called with the result of every request whose key was found, before the answer. */
    onAnswered: (answers: IngestionAnswer[], key: AdmittedKey) => void;
  };

/** Throws a Refusal if nothing was stored. */
export async function ingest(deps: IngestDeps, request: IngestRequest): Promise<IngestOutcome> {
  try {
    const key = await findKey(deps, request.key);
    return await withReport(deps, key, request.id, receive(deps, key, request));
  } catch (error) {
    throw asUnavailable(error);
  }
}

/** Stores a new sample conversation for the agent, prepared and evaluated like any other trace. */
export async function ingestSample(deps: IngestDeps, agentId: string): Promise<StoredTrace> {
  try {
    const bytes = Buffer.from(JSON.stringify(sampleBody(agentId, Date.now())));
    const body = await deps.preparer.prepare(bytes, "json");
    if (body.path !== "canonical") throw new Error("The sample is not canonical.");
    const externalId = `sample-${newId()}`;
    return await store(deps, null, { agentId, externalId, path: "canonical", serviceName: null }, body.batch);
  } catch (error) {
    throw asUnavailable(error);
  }
}

async function receive(deps: IngestDeps, key: AdmittedKey, request: IngestRequest): Promise<IngestOutcome> {
  const body = await withBody(deps, request, key, (bytes, mediaType) =>
    deps.preparer.prepare(bytes, mediaType, readersOf(key), ownersOf(key)),
  );
  return body.path === "canonical"
    ? await storeCanonical(deps, key, request, body)
    : await storeOtlp(deps, key, request, body);
}

/** Reports how the request ended. Rethrows its error and, if every trace is refused, throws the first refusal. */
async function withReport(
  deps: IngestDeps,
  key: AdmittedKey,
  requestId: string,
  request: Promise<IngestOutcome>,
): Promise<IngestOutcome> {
  const outcome = await request.catch(async (error: unknown) => {
    const unavailable = asUnavailable(error);
    const refusal = unavailable instanceof Refusal ? unavailable : new Refusal("INTERNAL");
    deps.onAnswered([refusedWhole(refusal, requestId, await namedAgent(deps, key, refusal))], key);
    throw error;
  });
  if (outcome.path === "canonical") deps.onAnswered(answersOf([outcome.trace], [], requestId), key);
  else {
    deps.onAnswered(answersOf(outcome.stored, outcome.refused, requestId), key);
    if (outcome.stored.length === 0) throw outcome.refused[0]!.refusal;
  }
  return outcome;
}

async function storeCanonical(
  deps: IngestDeps,
  key: AdmittedKey,
  request: IngestRequest,
  body: Extract<PreparedBody, { path: "canonical" }>,
): Promise<IngestOutcome> {
  const externalId = readRequestId(request.requestIds) ?? newId();
  const agentId = await agentOfHint(deps, key, body.platformHint);
  const identity = { agentId, externalId, path: "canonical" as const, serviceName: null };
  const trace = await store(deps, key, identity, body.batch).catch(error => {
    if (error instanceof Refusal) error.agentId = agentId;
    throw error;
  });
  return { path: "canonical", trace };
}

/** Groups succeed or fail independently; an error that is not specific to one group fails the whole request. */
async function storeOtlp(
  deps: IngestDeps,
  key: AdmittedKey,
  request: IngestRequest,
  { groups, resources }: Extract<PreparedBody, { path: "otlp" }>,
): Promise<IngestOutcome> {
  const requestId = groups.length === 1 ? readRequestId(request.requestIds) : undefined;
  const outcomes = await inTurns(groups, async (group): Promise<StoredTrace | RefusedGroup> => {
    if ("refusal" in group) return group;
    const { serviceName, spanCount, traceId, batch } = group;
    let agentId: string | undefined;
    try {
      agentId = await agentOfGroup(deps, key, serviceName);
      const identity = { agentId, externalId: requestId ?? traceId, path: "otlp" as const, serviceName };
      const otlpTraceId = identity.externalId === traceId ? undefined : traceId;
      const resource =
        group.resource === null ? undefined : sharedResource(agentId, resources[group.resource]!);
      return await store(deps, key, identity, { ...batch, resource, otlpTraceId });
    } catch (error) {
      if (error instanceof Refusal && refusesGroup.has(error.code)) {
        error.agentId ??= agentId;
        return { serviceName, spanCount, refusal: error };
      }
      throw error;
    }
  });
  const refused = outcomes.filter(outcome => "refusal" in outcome);
  const stored = outcomes.filter(outcome => "traceId" in outcome);
  return { path: "otlp", stored, refused, traces: groups.length };
}

/** Its id differs between agents, so that deleting one agent's traces never concerns another's. */
function sharedResource(agentId: string, { hash: resourceHash, bytes }: PreparedResource): SharedResource {
  const digest = hash("sha256", `${agentId} ${resourceHash}`);
  const id = digest.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, "$1-$2-$3-$4-$5");
  return { id, bytes };
}

const refusesGroup = new Set(["OTLP_PLATFORM_NOT_FOUND", "OTLP_PLATFORM_NOT_ALLOWED", "PAYLOAD_TOO_LARGE"]);

type Named = Pick<StoredTrace, "agentId" | "externalId" | "path" | "serviceName">;
type Write = PreparedBatch & Pick<TraceWrite, "resource" | "otlpTraceId" | "privacyRevision">;

async function store(
  deps: IngestDeps,
  key: AdmittedKey | null,
  { serviceName, ...identity }: Named,
  sent: Write,
): Promise<StoredTrace> {
  const owners = key ? ownersOf(key) : undefined;
  const ids = { traceId: newId(), runId: newId(), keyId: key?.id ?? null, owners };
  const mayHaveRecords = key?.hasMoreConventions;
  const first = key ? { ...sent, privacyRevision: key.privacyRevision } : sent;
  const stored = await untilFitting(deps, identity.agentId, first, identity.path, batch =>
    deps.writer.write({ ...ids, mayHaveRecords, ...identity, ...batch }),
  );
  const spanCount = stored.isExpired ? 0 : sent.spanCount;
  const trace = { ...stored, ...identity, serviceName, spanCount };
  deps.onStored(trace);
  return trace;
}

/** Writes the batch, changed again by the settings of its agent for as long as they are others than it was changed by. */
async function untilFitting(
  { preparer, findAgent, findStoring }: IngestDeps,
  agentId: string,
  sent: Write,
  path: TracePath,
  write: (batch: Write) => Promise<Stored>,
): Promise<Stored> {
  let batch = sent;
  return whileChanging(
    () => write(batch),
    async ({ isForgotten }) => {
      const agent = await findAgent(agentId);
      if (!agent) return;
      const resource = batch.resource?.bytes ?? null;
      const by = intakeOf(agent);
      const { otlpTraceId, privacyRevision } = batch;
      const rules = privacyRevision === undefined ? undefined : await findStoring(agent.projectId);
      const storing = rules?.storing ?? null;
      const changed = { batch, resource, path, by, isForgotten, storing };
      const again = await preparer.prepareAgain(changed);
      batch = {
        ...again.batch,
        otlpTraceId,
        privacyRevision: rules?.revision,
        resource: again.resource ? sharedResource(agentId, again.resource) : undefined,
      };
    },
  );
}
