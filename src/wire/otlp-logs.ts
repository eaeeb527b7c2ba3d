// Decodes an OTLP log export: keeps the records of GenAI events by span, counts the others, and refuses bad ones one by one.

import { isRecord } from "../model/record.ts";
import { Refusal } from "../model/refusal.ts";
import { RecordCollecting, type ServiceRecords } from "./collected-records.ts";
import { parseJson } from "./json.ts";
import type { DecodeLimits } from "./limits.ts";
import type { MediaType } from "./media-type.ts";
import { logs } from "./otlp-fields.ts";
import { readRequest } from "./otlp-json.ts";
import { readLogsProtobuf } from "./otlp-protobuf.ts";
import { refuseGzip } from "./still-gzip.ts";

/**
 * `isRead`: whether the service's records are read at all. Throws Refusals only: VALIDATION_ERROR, OTLP_PROTOBUF_INVALID,
 * PAYLOAD_TOO_LARGE. A request without records is no error.
 */
export function decodeLogs(
  bytes: Buffer,
  mediaType: MediaType,
  limits: DecodeLimits,
  isRead: (serviceName: string) => boolean,
): ServiceRecords[] {
  refuseGzip(bytes, mediaType);
  const collecting = new RecordCollecting(limits, isRead);
  if (mediaType === "protobuf") readLogsProtobuf(bytes, limits, collecting);
  else {
    const { value: body } = parseJson(bytes, limits);
    if (!isRecord(body) || (body["resourceLogs"] ?? null) === null) throw notLogs(body);
    readRequest(body, logs, collecting);
  }
  return collecting.finish();
}

function notLogs(body: unknown): Refusal {
  const isTraces = isRecord(body) && ("resourceSpans" in body || "spans" in body);
  return new Refusal("VALIDATION_ERROR", {
    message: isTraces ? "The body is a trace, not an export of logs." : "The body has no resourceLogs.",
    hint: isTraces
      ? "Send traces to /public/traces."
      : "Send an OTLP log export: an object with a `resourceLogs` list.",
  });
}
