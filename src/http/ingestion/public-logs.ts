// POST /public/logs: answers OTLP log exports.

import type { FastifyReply, FastifyRequest } from "fastify";
import type { IngestRequest } from "../../ingest/admit.ts";
import { ingestLogs, type LogsDeps, type LogsOutcome } from "../../ingest/logs.ts";
import type { DroppedRecords } from "../../model/ingestion.ts";
import { partialMessageOfLogs } from "../../wire/otlp-reply.ts";
import { metrics } from "../health.ts";
import { answerExport } from "./public-endpoint.ts";

export async function receiveLogs(
  deps: LogsDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  given: IngestRequest,
): Promise<void> {
  const outcome = await ingestLogs(deps, given);
  count(outcome);
  const rejectedLogRecords = outcome.refused.reduce((sum, { recordCount }) => sum + recordCount, 0);
  const errorMessage = partialMessageOfLogs(outcome.refused);
  answerExport(request, reply, rejectedLogRecords > 0 ? { rejectedLogRecords, errorMessage } : undefined);
}

function count({ accepted, refused }: LogsOutcome): void {
  metrics.ingestRequests.inc({ code: refused.length > 0 ? "PARTIAL" : "OK" });
  for (const { recordCount, dropped } of accepted) {
    metrics.ingestRecords.inc(recordCount);
    countDropped(dropped);
  }
}

export function countDropped(dropped: DroppedRecords): void {
  for (const [reason, records] of Object.entries(dropped)) metrics.recordsDropped.inc({ reason }, records);
}
