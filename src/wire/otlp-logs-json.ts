// Reads an OTLP log export in JSON: validates the envelope strictly, and each record by itself.

import { isRecord } from "../model/record.ts";
import type { LogRecord } from "../model/trace/trace.ts";
import { readAnyValue } from "./any-value.ts";
import type { RecordCollecting } from "./collected-records.ts";
import { setExtras } from "./otlp-groups.ts";
import {
  asObject,
  type Json,
  readAttributes,
  readList,
  readResource,
  readText,
  readTime,
  readUint32,
} from "./otlp-json.ts";

/** Throws VALIDATION_ERROR for a malformed envelope. */
export function readLogsJson(body: Json, collecting: RecordCollecting): void {
  for (const [r, sentResource] of readList(body, "resourceLogs", "").entries()) {
    const resourcePath = `resourceLogs[${r}]`;
    const resourceLogs = asObject(sentResource, resourcePath);
    const { serviceName } = readResource(resourceLogs, resourcePath);
    for (const [s, sentScope] of readList(resourceLogs, "scopeLogs", resourcePath).entries()) {
      const scopePath = `${resourcePath}.scopeLogs[${s}]`;
      const records = readList(asObject(sentScope, scopePath), "logRecords", scopePath);
      for (const [i, sent] of records.entries()) {
        const path = `${scopePath}.logRecords[${i}]`;
        const ids = isRecord(sent) ? sent : {};
        collecting.add(serviceName, { traceId: ids["traceId"], spanId: ids["spanId"] }, path, () =>
          readRecord(asObject(sent, path), path),
        );
      }
    }
  }
}

function readRecord(sent: Json, path: string): LogRecord {
  const attributes = readAttributes(sent, path);
  const record: LogRecord = {
    event_name: readText(sent, "eventName", path) || nameIn(attributes),
    time_unix_nano: readTime(sent, "timeUnixNano", path) ?? readTime(sent, "observedTimeUnixNano", path),
    body: readAnyValue(sent["body"]),
    attributes,
  };
  return setExtras(record, { dropped_attributes_count: readUint32(sent["droppedAttributesCount"]) });
}

/** Where SDKs put the name of the event before records had a field for it. */
export function nameIn(attributes: Json): string {
  const name = attributes["event.name"];
  return typeof name === "string" ? name : "";
}
