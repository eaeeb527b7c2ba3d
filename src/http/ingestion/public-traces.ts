// POST /public/traces: answers canonical traces and OTLP trace exports.
import type { FastifyReply, FastifyRequest } from "fastify";
import type { RefusedGroup } from "../../ingest/prepare-groups.ts";
import {
  type IngestDeps,
  type IngestOutcome,
  type IngestRequest,
  ingest,
  type StoredTrace,
} from "../../ingest.ts";
import { type PartialSuccess, partialMessage } from "../../wire/otlp-reply.ts";
import { metrics } from "../health.ts";
import { answerExport } from "./public-endpoint.ts";

export async function receiveTraces(
  deps: IngestDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  given: IngestRequest,
): Promise<void> {
  const outcome = await ingest(deps, given);
  count(outcome);
  answer(request, reply, outcome);
}

function count(outcome: IngestOutcome): void {
  const partial = outcome.path === "otlp" && outcome.refused.length > 0;
  metrics.ingestRequests.inc({ code: partial ? "PARTIAL" : "OK" });
  const stored = outcome.path === "canonical" ? [outcome.trace] : outcome.stored;
  metrics.ingestSpans.inc(stored.reduce((sum, { spanCount }) => sum + spanCount, 0));
}

function answer(request: FastifyRequest, reply: FastifyReply, outcome: IngestOutcome): void {
  if (outcome.path === "canonical") {
    const { trace } = outcome;
    reply
      .code(trace.state === "created" ? 201 : 200)
      .header("x-svc-trace-id", trace.traceId)
      .header("content-type", "application/json")
      .send(Buffer.from(JSON.stringify(canonicalReply(trace))));
    return;
  }
  if (outcome.traces === 1) reply.header("x-svc-trace-id", outcome.stored[0]!.traceId);
  answerExport(request, reply, outcome.refused.length > 0 ? partialSuccess(outcome.refused) : undefined);
}

function canonicalReply({
  traceId,
  externalId,
  agentId,
  state,
  evaluation,
  isExpired,
  isTestRun,
}: StoredTrace) {
  const status = state === "created" ? "created" : "replaced";
  const hint = hints[isExpired ? "expired" : isTestRun ? "testRun" : status];
  return { traceId, externalId, agentId, status, evaluation, ...(evaluation === "none" ? { hint } : {}) };
}

/** Why a trace is not evaluated, and what to do. */
const hints = {
  created:
    "No test case runs automatically on this trace. Activate a test case that has one turn and is not limited to manual runs; it evaluates the next trace.",
  testRun:
    "This trace belongs to a manual run, which evaluates it. To have the next trace evaluated automatically, send it with another x-request-id.",
  replaced:
    "Replacing a trace schedules no evaluation. Unless one is pending, send the trace with a new x-request-id to have it evaluated.",
  expired:
    "Not stored: a trace with this x-request-id was deleted when its retention time was over. Send the trace with a new x-request-id to store it.",
};

function partialSuccess(refused: RefusedGroup[]): PartialSuccess {
  return {
    rejectedSpans: refused.reduce((sum, { spanCount }) => sum + spanCount, 0),
    errorMessage: partialMessage(refused),
  };
}
