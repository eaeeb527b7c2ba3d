// Validates a canonical body: checks every span, reports every invalid field, keeps values as sent.
import { isRecord } from "../model/record.ts";
import { type Issue, Refusal } from "../model/refusal.ts";
import type { Attributes, Batch, Span } from "../model/trace/trace.ts";
import { readUint64 } from "./fields.ts";
import { plainNumbers } from "./json.ts";
import { type DecodeLimits, tooManySpans } from "./limits.ts";

/** The agent that a canonical body names, as sent: only its presence is checked. */
export type PlatformHint = { value: unknown; field: string };

const issuesMax = 20;

/** `exact`: from parseJson. Throws VALIDATION_ERROR with at most 20 issues, or PAYLOAD_TOO_LARGE. */
export function readCanonical(
  body: Record<string, unknown>,
  exact: boolean,
  limits: DecodeLimits,
): { batch: Batch; platformHint: PlatformHint | null } {
  const issues: Issue[] = [];
  const metadata = readObject(body, "metadata", "", issues);
  const spans = readSpans(body["spans"], limits, issues);
  const platformHint = findPlatformHint(body, metadata);
  if (issues.length > 0) {
    throw new Refusal("VALIDATION_ERROR", {
      message: "The trace has invalid fields.",
      agentId: typeof platformHint?.value === "string" ? platformHint.value : undefined,
      issues: issues.slice(0, issuesMax),
    });
  }
  if (exact) plainNumbers(body);
  return { batch: { spans, resource: null, metadata }, platformHint };
}

function readSpans(list: unknown, limits: DecodeLimits, issues: Issue[]): Span[] {
  if (!Array.isArray(list) || list.length === 0) {
    issues.push({ path: "spans", message: "must be a list of at least one span" });
    return [];
  }
  if (list.length > limits.spansMax) throw tooManySpans(limits);
  const spans: Span[] = [];
  const ids = new Set<string>();
  for (let i = 0; i < list.length && issues.length < issuesMax; i++) {
    const path = `spans[${i}]`;
    const sent: unknown = list[i];
    if (!isRecord(sent)) {
      issues.push({ path, message: "must be an object" });
      continue;
    }
    const span = readSpan(sent, `${path}.`, issues);
    if (ids.has(span.span_id))
      issues.push({ path: `${path}.span_id`, message: "must be unique in the trace" });
    else if (span.span_id !== "") ids.add(span.span_id);
    spans.push(span);
  }
  return spans;
}

function readSpan(sent: Record<string, unknown>, path: string, issues: Issue[]): Span {
  return {
    span_id: readLabel(sent, "span_id", path, issues),
    parent_span_id: readText(sent, "parent_span_id", path, issues) || null,
    name: readLabel(sent, "name", path, issues),
    attributes: readObject(sent, "attributes", path, issues) ?? {},
    start_time_unix_nano: readTime(sent, "start_time_unix_nano", path, issues),
    end_time_unix_nano: readTime(sent, "end_time_unix_nano", path, issues),
    status: readStatus(sent, path, issues),
    events: readList(sent, "events", path, issues),
  };
}

function readStatus(sent: Record<string, unknown>, path: string, issues: Issue[]): Span["status"] {
  const status = readObject(sent, "status", path, issues);
  if (status === null) return null;
  const code = status["code"] ?? undefined;
  const message = readText(status, "message", `${path}status.`, issues);
  if (code !== undefined && !Number.isSafeInteger(code)) {
    issues.push({ path: `${path}status.code`, message: "must be an integer" });
  }
  return {
    ...(code === undefined ? {} : { code: code as number }),
    ...(message === null ? {} : { message }),
  };
}

function readLabel(from: Record<string, unknown>, field: string, path: string, issues: Issue[]): string {
  const value = from[field];
  if (typeof value === "string" && value !== "") return value;
  issues.push({ path: path + field, message: "must be a non-empty string" });
  return "";
}

function readText(
  from: Record<string, unknown>,
  field: string,
  path: string,
  issues: Issue[],
): string | null {
  const value = from[field] ?? null;
  if (value === null || typeof value === "string") return value;
  issues.push({ path: path + field, message: "must be a string" });
  return null;
}

function readObject(
  from: Record<string, unknown>,
  field: string,
  path: string,
  issues: Issue[],
): Attributes | null {
  const value = from[field] ?? null;
  if (value === null || isRecord(value)) return value;
  issues.push({ path: path + field, message: "must be an object" });
  return null;
}

function readList(from: Record<string, unknown>, field: string, path: string, issues: Issue[]): unknown[] {
  const value = from[field] ?? [];
  if (Array.isArray(value)) return value;
  issues.push({ path: path + field, message: "must be a list" });
  return [];
}

function readTime(
  from: Record<string, unknown>,
  field: string,
  path: string,
  issues: Issue[],
): string | null {
  const value = from[field] ?? null;
  if (value === null) return null;
  const time = readUint64(value);
  if (time !== undefined) return time;
  issues.push({ path: path + field, message: "must be nanoseconds as the decimal text of a uint64" });
  return null;
}

/** The first of four fields that is present. Null counts as absent. */
function findPlatformHint(body: Record<string, unknown>, metadata: Attributes | null): PlatformHint | null {
  const svc = metadata?.["svc"];
  const candidates: [unknown, string][] = [
    [body["platformId"], "platformId"],
    [isRecord(svc) ? svc["platform_id"] : null, "metadata.svc.platform_id"],
    [metadata?.["svc.platform_id"], "metadata.svc.platform_id"],
    [metadata?.["platformId"], "metadata.platformId"],
  ];
  for (const [value, field] of candidates) {
    if (value !== undefined && value !== null) return { value, field };
  }
  return null;
}
