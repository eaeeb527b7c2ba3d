// A thread that prepares large bodies.
import { messageOf } from "../threads/refusal-message.ts";
import { serveThread } from "../threads/serve.ts";
import { prepareBody } from "./prepare.ts";
import { prepareLogs } from "./prepare-logs.ts";
import type { PrepareInput, PrepareLogsResult, PrepareResult } from "./preparer.ts";

serveThread({ prepare, prepareLogs: prepareLogExport }, { bytesIn });

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

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

function bytesIn(result: PrepareResult | PrepareLogsResult): Uint8Array[] {
  if (Array.isArray(result)) return result.flatMap(({ spans }) => spans.map(({ bytes }) => bytes));
  if (result.path === "canonical") return [result.batch.bytes];
  const batches = result.groups.flatMap(group => ("batch" in group ? [group.batch.bytes] : []));
  return [...batches, ...result.resources.map(resource => resource.bytes)];
}
