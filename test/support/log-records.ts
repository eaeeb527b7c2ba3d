// Makes OTLP log exports: records of GenAI events, and the spans that they are about.
import { serviceName } from "./service.ts";

type Fields = Record<string, unknown>;

/** The attributes of OTLP JSON, each a text. */
const attributesOf = (fields: Record<string, string>) =>
  Object.entries(fields).map(([key, stringValue]) => ({ key, value: { stringValue } }));

const kvlist = (fields: Record<string, string>) => ({ kvlistValue: { values: attributesOf(fields) } });

type About = { traceId: string; spanId: string };

/** A question of the user, at this nanosecond. */
export function questionRecord({ traceId, spanId }: About, content: string, at = "1000"): Fields {
  return record({
    traceId,
    spanId,
    eventName: "gen_ai.user.message",
    timeUnixNano: at,
    body: kvlist({ content }),
  });
}

/** The reply of a model. */
export function replyRecord({ traceId, spanId }: About, content: string, at = "2000"): Fields {
  const message = { key: "message", value: kvlist({ role: "assistant", content }) };
  return record({
    traceId,
    spanId,
    eventName: "gen_ai.choice",
    timeUnixNano: at,
    body: { kvlistValue: { values: [message] } },
  });
}

/** A log record, valid unless `more` says otherwise. */
export function record(more: Fields): Fields {
  return { observedTimeUnixNano: "1", attributes: [], ...more };
}

/** A log export of these records by a service; a name of null leaves the attribute out. */
export function logsOf(logRecords: unknown, service: string | null = serviceName) {
  const attributes = service === null ? [] : attributesOf({ "service.name": service });
  return { resourceLogs: [{ resource: { attributes }, scopeLogs: [{ logRecords }] }] };
}

/** A span of a call of a model, without content. */
export function callSpan({ traceId, spanId }: About, more: Record<string, string> = {}): Fields {
  const attributes = attributesOf({ "gen_ai.operation.name": "chat", "gen_ai.request.model": "m", ...more });
  return { traceId, spanId, name: "chat m", startTimeUnixNano: "500", endTimeUnixNano: "3000", attributes };
}
