// A thread that prepares large bodies.

import type { StoringRules } from "../model/privacy.ts";
import { collectGarbage } from "../threads/collect.ts";
import { messageOf, type RefusalMessage } from "../threads/refusal-message.ts";
import { serveThread } from "../threads/serve.ts";
import type { DecodeLimits } from "../wire/limits.ts";
import type { MediaType } from "../wire/media-type.ts";
import type { IntakeBy } from "./intake.ts";
import {
  type PrepareAgain,
  type PreparedAgain,
  type PreparedBody,
  prepareAgain,
  prepareBody,
} from "./prepare.ts";
import type { PreparedGroup, PreparedResource, RefusedGroup } from "./prepare-groups.ts";
import {
  type PreparedRecords,
  type PreparedService,
  prepareLogs,
  prepareRecordsAgain,
} from "./prepare-logs.ts";
import type { Readers } from "./readers.ts";

serveThread({ prepare, prepareLogs: prepareLogExport, again, recordsAgain }, { bytesIn });

// Decoded, a body takes some four times its bytes. V8 would let 300 MB of such garbage gather.
const collectedBytes = 8 * 1024 * 1024;
let garbageBytes = 0;

/** To be called with each body. Collects once the results of those that fill `collectedBytes` have been sent. */
function collectLater({ byteLength }: Uint8Array): void {
  garbageBytes += byteLength;
  if (garbageBytes < collectedBytes) return;
  garbageBytes = 0;
  setImmediate(collectGarbage);
}

function prepare({ bytes, mediaType, limits, readers }: PrepareInput): PrepareResult {
  collectLater(bytes);
  const body = prepareBody(bufferOf(bytes), mediaType, limits, readers);
  if (body.path === "canonical") return body;
  const groups = body.groups.map(group =>
    "refusal" in group ? { ...group, refusal: messageOf(group.refusal) } : group,
  );
  return { ...body, groups };
}

function prepareLogExport({ bytes, mediaType, limits, readers }: PrepareInput): PrepareLogsResult {
  collectLater(bytes);
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

export type PrepareInput = {
  bytes: Uint8Array;
  mediaType: MediaType;
  limits: DecodeLimits;
  readers: Readers | null;
};

/** A PreparedBody in a form that can be sent between threads. */
export type PrepareResult =
  | Extract<PreparedBody, { path: "canonical" }>
  | {
      path: "otlp";
      groups: (PreparedGroup | (Omit<RefusedGroup, "refusal"> & { refusal: RefusalMessage }))[];
      resources: PreparedResource[];
    };

/** Prepared services in a form that can be sent between threads. */
export type PrepareLogsResult = (Omit<PreparedService, "refused"> & {
  refused: { recordCount: number; refusal: RefusalMessage }[];
})[];
