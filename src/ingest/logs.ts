// Ingests log records: admits the request, finds the agents, and stores the records of GenAI events for their spans.

import type { AgentConventions } from "../model/agent/agent.ts";
import {
  type DroppedRecords,
  type DropReason,
  type IngestionAnswer,
  refusedWhole,
} from "../model/ingestion.ts";
import { type AdmittedKey, allowsAgent } from "../model/key.ts";
import { Refusal } from "../model/refusal.ts";
import { asUnavailable, violatedConstraint } from "../store/db.ts";
import type { JoinedTrace } from "../store/traces/join-records.ts";
import type { RecordsOutcome } from "../store/traces/records.ts";
import type { RecordsWrite, SentRecords } from "../store/traces/waiting-records.ts";
import type { MediaType } from "../wire/media-type.ts";
import {
  type Admitting,
  type FindKey,
  type FindStoring,
  findKey,
  type IngestRequest,
  ownersOf,
  readersOf,
  withBody,
} from "./admit.ts";
import { answersOf } from "./answers.ts";
import { inTurns } from "./in-turns.ts";
import { intakeOf } from "./intake.ts";
import type { PreparedRecords, PreparedService } from "./prepare-logs.ts";
import type { Preparer } from "./preparer.ts";
import { agentOfGroup, type FindAgents } from "./resolve-agent.ts";
import { whileChanging } from "./while-changing.ts";

export type LogsDeps = FindAgents &
  FindKey &
  Admitting &
  FindStoring & {
    preparer: Preparer;
    /** Commits the records, and joins those whose span is stored. */
    storeRecords: (writes: RecordsWrite[]) => Promise<RecordsOutcome>;
    /** Called for every trace that got records, before the answer. */
    onJoined: (trace: JoinedTrace) => void;
    /** Called with records that were dropped after their request was answered. */
    onDropped: (reason: DropReason, records: SentRecords[]) => void;
    onAnswered: (answers: IngestionAnswer[], key: AdmittedKey) => void;
  };

/** By service. `recordCount` of accepted ones: kept for their span, repetitions included. */
export type LogsOutcome = {
  accepted: { serviceName: string; agentId: string; recordCount: number; dropped: DroppedRecords }[];
  refused: { serviceName: string | null; recordCount: number; refusal: Refusal }[];
};

/** Throws a Refusal if every record was refused. */
export async function ingestLogs(deps: LogsDeps, request: IngestRequest): Promise<LogsOutcome> {
  try {
    const key = await findKey(deps, request.key);
    const outcome = await receive(deps, key, request).catch((error: unknown) => {
      const unavailable = asUnavailable(error);
      const refusal = unavailable instanceof Refusal ? unavailable : new Refusal("INTERNAL");
      deps.onAnswered([refusedWhole(refusal, request.id)], key);
      throw error;
    });
    deps.onAnswered(answersOf(outcome.accepted, outcome.refused, request.id), key);
    if (outcome.accepted.length === 0 && outcome.refused.length > 0) throw outcome.refused[0]!.refusal;
    return outcome;
  } catch (error) {
    throw asUnavailable(error);
  }
}

async function receive(deps: LogsDeps, key: AdmittedKey, request: IngestRequest): Promise<LogsOutcome> {
  const services = await withBody(deps, request, key, (bytes, mediaType) =>
    prepare(deps, key, bytes, mediaType),
  );
  const outcomes = await inTurns(services, service => storeService(deps, key, service));
  const accepted = outcomes.flatMap(outcome => outcome.accepted);
  return { accepted, refused: outcomes.flatMap(outcome => outcome.refused) };
}

/** With the conventions of every agent that the body names: of those that the key leaves out, they are looked up. */
async function prepare(
  deps: LogsDeps,
  key: AdmittedKey,
  bytes: Buffer,
  mediaType: MediaType,
): Promise<PreparedService[]> {
  const readers = readersOf(key);
  const owners = ownersOf(key);
  if (!key.hasMoreConventions) return deps.preparer.prepareLogs(bytes, mediaType, readers, owners);
  // A copy, since the bytes must not be used after they have been prepared.
  const services = await deps.preparer.prepareLogs(Buffer.from(bytes), mediaType, readers, owners);
  const further = await findReaders(deps, key, services);
  if (further.length === 0) return services;
  const agents = [...(readers?.agents ?? []), ...further];
  return deps.preparer.prepareLogs(bytes, mediaType, { only: null, ...readers, agents }, owners);
}

/** The agents of services whose records were not read although the agent has conventions. */
async function findReaders(
  deps: LogsDeps,
  key: AdmittedKey,
  services: PreparedService[],
): Promise<AgentConventions[]> {
  const names = services.flatMap(one =>
    one.unreadCount > 0 && one.serviceName !== null ? [one.serviceName] : [],
  );
  const agents = await Promise.all(names.map(name => deps.findAgentByServiceName(key.projectId, name)));
  return agents.flatMap(agent =>
    agent && agent.conventions.length > 0 && allowsAgent(key, agent.id)
      ? [{ agentId: agent.id, serviceName: agent.otlpServiceName, ...intakeOf(agent) }]
      : [],
  );
}

/** A service whose agent is refused is refused with all its records; otherwise only bad records are. */
async function storeService(
  deps: LogsDeps,
  key: AdmittedKey,
  service: PreparedService,
): Promise<LogsOutcome> {
  const { serviceName, recordCount, unreadCount, emptyCount } = service;
  let agentId: string | undefined;
  try {
    if (serviceName === null) throw nameRequired();
    agentId = await agentOfGroup(deps, key, serviceName);
    const refused = service.refused.map(one => ({ serviceName, ...one }));
    for (const { refusal } of refused) refusal.agentId = agentId;
    const tooMany = await store(deps, key, agentId, service);
    if (tooMany > 0) refused.push({ serviceName, recordCount: tooMany, refusal: tooLarge(agentId) });
    const left = refused.reduce((left, one) => left - one.recordCount, recordCount);
    if (left === 0) return { accepted: [], refused };
    const dropped: DroppedRecords = {
      ...(unreadCount > 0 && { no_conventions: unreadCount }),
      ...(emptyCount > 0 && { no_content: emptyCount }),
    };
    const kept = left - unreadCount - emptyCount;
    return { accepted: [{ serviceName, agentId, recordCount: kept, dropped }], refused };
  } catch (error) {
    const refusal = refusalOfService(error);
    if (!refusal) throw error;
    refusal.agentId ??= agentId;
    return { accepted: [], refused: [{ serviceName, recordCount, refusal }] };
  }
}

/** Returns the number of records for which their trace has no room. */
async function store(
  deps: LogsDeps,
  { id: keyId, privacyRevision: sentBy }: AdmittedKey,
  agentId: string,
  { spans }: PreparedService,
): Promise<number> {
  if (spans.length === 0) return 0;
  let fitting = spans;
  let privacyRevision = sentBy;
  const { joined, refused, dropped } = await whileChanging(
    () =>
      deps.storeRecords(
        fitting.map(
          ({ traceId, ...span }): RecordsWrite => ({
            ...span,
            privacyRevision,
            keyId,
            agentId,
            otlpTraceId: traceId,
          }),
        ),
      ),
    async () => {
      const agent = await deps.findAgent(agentId);
      if (!agent) return;
      const by = intakeOf(agent);
      const { revision, storing } = await deps.findStoring(agent.projectId);
      const again: PreparedRecords[] = [];
      for (const records of fitting) {
        const left = await deps.preparer.prepareRecordsAgain(records, by, storing);
        if (left) again.push(left);
      }
      fitting = again;
      privacyRevision = revision;
    },
  );
  for (const trace of joined) deps.onJoined(trace);
  deps.onDropped("no_room", dropped);
  return refused;
}

function refusalOfService(error: unknown): Refusal | null {
  // The agent was deleted in the meantime: for the client it does not exist.
  if (violatedConstraint(error) === "waiting_records_agent_id_fkey")
    return new Refusal("OTLP_PLATFORM_NOT_FOUND");
  return error instanceof Refusal && refusesService.has(error.code) ? error : null;
}

const refusesService = new Set([
  "OTLP_SERVICE_NAME_REQUIRED",
  "OTLP_PLATFORM_NOT_FOUND",
  "OTLP_PLATFORM_NOT_ALLOWED",
]);

function nameRequired(): Refusal {
  return new Refusal("OTLP_SERVICE_NAME_REQUIRED", {
    hint: "Set OTEL_SERVICE_NAME to the OTLP service name of the agent.",
  });
}

function tooLarge(agentId: string): Refusal {
  const refusal = new Refusal("PAYLOAD_TOO_LARGE", {
    message: "The trace has no room for more log records.",
    hint: "End the trace and continue with a new traceId.",
  });
  refusal.agentId = agentId;
  return refusal;
}
