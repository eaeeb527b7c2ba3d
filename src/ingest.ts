// Ingests traces: checks key, verified email and media type, reads the body, resolves the agent, stores and schedules.
import { hash } from "node:crypto";
import { answersOf } from "./ingest/answers.ts";
import type {
  PreparedBatch,
  PreparedBody,
  PreparedResource,
  Readers,
  RefusedGroup,
} from "./ingest/prepare.ts";
import type { Preparer } from "./ingest/preparer.ts";
import { readRequestId } from "./ingest/request-id.ts";
import { agentOfGroup, agentOfHint, type FindAgents, namedAgent } from "./ingest/resolve-agent.ts";
import { sampleBody } from "./ingest/sample.ts";
import { type IngestionAnswer, refusedWhole } from "./model/ingestion.ts";
import { type AdmittedKey, hashKey } from "./model/key.ts";
import { Refusal } from "./model/refusal.ts";
import type { TracePath } from "./model/trace/trace.ts";
import { asUnavailable } from "./store/db.ts";
import { newId } from "./store/new-id.ts";
import type { SharedResource, Stored } from "./store/traces/write.ts";
import type { TraceWriter } from "./store/traces/writer.ts";
import {
  type ContentEncoding,
  type MediaType,
  readContentEncoding,
  readMediaType,
} from "./wire/media-type.ts";

/** The request's headers, and its body as a function: the key is checked before a byte of the body is read. */
export type IngestRequest = {
  key: string | undefined;
  contentType: string | undefined;
  contentEncoding: string | undefined;
  /** The service's own id of the request. */
  id: string;
  /** Every x-request-id header of the request. */
  requestIds: string[];
  readBody: (
    encoding: ContentEncoding,
    mediaType: MediaType,
    key: AdmittedKey,
  ) => Promise<{ bytes: Buffer; release: () => void }>;
};

export type StoredTrace = Stored & {
  agentId: string;
  externalId: string;
  path: TracePath;
  /** Null on the canonical path. */
  serviceName: string | null;
  /** Distinct spans of this batch. */
  spanCount: number;
};

export type IngestOutcome =
  | { path: "canonical"; trace: StoredTrace }
  /** At least one is stored. */
  | { path: "otlp"; stored: StoredTrace[]; refused: RefusedGroup[]; traces: number };

export type IngestDeps = FindAgents & {
  /** The key with this hexadecimal hash, if it is neither revoked nor expired. */
  findKey: (hash: string) => Promise<AdmittedKey | undefined>;
  preparer: Preparer;
  writer: TraceWriter;
  /** Called for every committed trace, before the answer; without a key for sample traces. */
  onStored: (trace: StoredTrace, key: AdmittedKey | null) => void;
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
  requireVerified(key);
  const mediaType = readMediaType(request.contentType);
  const encoding = readContentEncoding(request.contentEncoding);
  const body = await prepare(deps, key, request, mediaType, encoding);
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

async function findKey(deps: IngestDeps, text: string | undefined): Promise<AdmittedKey> {
  const hint = "Send a key created under Keys in the x-api-key header.";
  if (!text) throw new Refusal("UNAUTHORIZED", { message: "The x-api-key header is missing.", hint });
  const key = await deps.findKey(hashKey(text).toString("hex"));
  if (!key) {
    throw new Refusal("UNAUTHORIZED", { message: "This API key is unknown, revoked or expired.", hint });
  }
  return key;
}

function requireVerified(key: AdmittedKey): void {
  if (key.emailVerified) return;
  throw new Refusal("EMAIL_NOT_VERIFIED", {
    hint: "Open the link in the verification email, then send the trace again with the same key.",
  });
}

async function prepare(
  deps: IngestDeps,
  key: AdmittedKey,
  request: IngestRequest,
  mediaType: MediaType,
  encoding: ContentEncoding,
): Promise<PreparedBody> {
  const { bytes, release } = await request.readBody(encoding, mediaType, key);
  try {
    return await deps.preparer.prepare(bytes, mediaType, readersOf(key));
  } finally {
    release();
  }
}

function readersOf({ conventions, access, agentIds }: AdmittedKey): Readers | null {
  const only = access === "granular" && agentIds.length === 1 ? agentIds[0]! : null;
  return conventions && { agents: conventions, only };
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
      const resource =
        group.resource === null ? undefined : sharedResource(agentId, resources[group.resource]!);
      return await store(deps, key, identity, { ...batch, resource });
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

/** Two transactions' worth: those of other requests are stored in between, however many traces one request has. */
const groupsAtOnce = 256;

/** The results in order; rejects with the first error, after which no further group begins. */
async function inTurns<T, R>(items: T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const take = async () => {
    while (next < items.length) {
      const at = next++;
      try {
        results[at] = await work(items[at]!);
      } catch (error) {
        next = items.length;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(groupsAtOnce, items.length) }, take));
  return results;
}

/** Its id differs between agents, so that deleting one agent's traces never concerns another's. */
function sharedResource(agentId: string, { hash: resourceHash, bytes }: PreparedResource): SharedResource {
  const digest = hash("sha256", `${agentId} ${resourceHash}`);
  const id = digest.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, "$1-$2-$3-$4-$5");
  return { id, bytes };
}

const refusesGroup = new Set(["OTLP_PLATFORM_NOT_FOUND", "OTLP_PLATFORM_NOT_ALLOWED", "PAYLOAD_TOO_LARGE"]);

async function store(
  deps: IngestDeps,
  key: AdmittedKey | null,
  { serviceName, ...identity }: Pick<StoredTrace, "agentId" | "externalId" | "path" | "serviceName">,
  {
    spanCount,
    spanKeys,
    bytes,
    rawLength,
    columns,
    conventions,
    resource,
  }: PreparedBatch & { resource?: SharedResource | undefined },
): Promise<StoredTrace> {
  const stored = await deps.writer.write({
    traceId: newId(),
    runId: newId(),
    keyId: key?.id ?? null,
    ...identity,
    spanCount,
    spanKeys,
    bytes,
    rawLength,
    columns,
    conventions,
    resource,
  });
  const trace = { ...stored, ...identity, serviceName, spanCount };
  deps.onStored(trace, key);
  return trace;
}
