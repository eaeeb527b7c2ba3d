// A thread that prepares large bodies.
import type { StoringRules } from "../model/privacy.ts";
import { messageOf } from "../threads/refusal-message.ts";
import { serveThread } from "../threads/serve.ts";
import type { IntakeBy } from "./intake.ts";
import { type PrepareAgain, type PreparedAgain, prepareAgain, prepareBody } from "./prepare.ts";
import { type PreparedRecords, prepareLogs, prepareRecordsAgain } from "./prepare-logs.ts";
import type { PrepareInput, PrepareLogsResult, PrepareResult } from "./preparer.ts";

serveThread({ prepare, prepareLogs: prepareLogExport, again, recordsAgain }, { bytesIn });

function prepare({ bytes, mediaType, limits, readers }: PrepareInput): PrepareResult {
  const body = prepareBody(bufferOf(bytes), mediaType, limits, readers);
  if (body.path === "canonical") return body;
  const groups = body.groups.map(group =>
    "refusal" in group ? { ...group, refusal: messageOf(group.refusal) } : group,
  );
  return { ...body, groups };
}

function prepareLogExport({ bytes, mediaType, limits, readers }: PrepareInput): PrepareLogsResult {
  return prepareLogs(bufferOf(bytes), mediaType, limits, readers).map(service => ({
    ...service,
    refused: service.refused.map(one => ({ ...one, refusal: messageOf(one.refusal) })),
  }));
}

function again(input: PrepareAgain): PreparedAgain {
  return prepareAgain(input);
}

type RecordsAgain = { records: PreparedRecords; by: IntakeBy; storing: StoringRules | null };

function recordsAgain({ records, by, storing }: RecordsAgain): PreparedRecords | null {
  return prepareRecordsAgain(records, by, storing);
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

function bytesIn(
  result: PrepareResult | PrepareLogsResult | PreparedAgain | PreparedRecords | null,
): Uint8Array[] {
  if (result === null) return [];
  if ("batch" in result && !("path" in result))
    return result.resource ? [result.batch.bytes, result.resource.bytes] : [result.batch.bytes];
  if ("recordKeys" in result) return [result.bytes];
  if (Array.isArray(result)) return result.flatMap(({ spans }) => spans.map(({ bytes }) => bytes));
  if (result.path === "canonical") return [result.batch.bytes];
  const batches = result.groups.flatMap(group => ("batch" in group ? [group.batch.bytes] : []));
  return [...batches, ...result.resources.map(resource => resource.bytes)];
}
