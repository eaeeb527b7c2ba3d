// Tells traces in which no agent did anything: they are kept, left out of lists and never evaluated.
import { isRecord } from "../../model/record.ts";
import type { Noise, Span } from "../../model/trace/trace.ts";
import { isSignOfConvention } from "../presets.ts";
import { attributeOf } from "../span/conversation.ts";

/** Null for any trace with a span of another kind. Decided from the spans alone, so that a later batch may change it. */
export function noiseOf(spans: Span[]): Noise | null {
  if (spans.length === 0 || spans.length > spansMax) return null;
  for (const [noise, is] of kinds) if (is(spans)) return noise;
  return null;
}

/** None of these traces has many. */
const spansMax = 200;

const kinds: [Noise, (spans: Span[]) => boolean][] = [
  ["mcp_client", spans => spans.every(isMcpHousekeeping)],
  ["health_check", isHealthCheck],
  ["expression", spans => spans.every(isExpression)],
];

/** What a client of MCP does to connect and to list tools; a call of a tool is a call. */
function isMcpHousekeeping(span: Span): boolean {
  const method = attributeOf(span, "mcp.method.name");
  const isMcp = method !== undefined || mcpScope.test(span.scope?.name ?? "");
  return (
    isMcp && method !== "tools/call" && !/tools\/call|call_?tool/i.test(span.name) && !saysAnything(span)
  );
}

const mcpScope = /(?:^|[._ /-])(?:fast)?mcp(?:[._ /-]|$)/i;

/** A request to a path that only probes ask for, and the spans of the web framework below it. */
function isHealthCheck(spans: Span[]): boolean {
  let isProbe = false;
  for (const span of spans) {
    const path = pathOf(span);
    if (path === null) continue;
    if (!probes.test(path)) return false;
    isProbe = true;
  }
  return isProbe && !spans.some(saysAnythingRead);
}

/** Read as it is: most spans have none, and each trace that arrives is asked. */
function pathOf({ attributes }: Span): string | null {
  const path = attributes["http.route"] ?? attributes["url.path"] ?? attributes["http.target"];
  return typeof path === "string" && path !== "" ? path : null;
}

const probes =
  /^\/(?:[\w-]+\/)*(?:health|healthz|healthcheck|health-check|livez|liveness|liveliness|readyz|readiness|ping)(?:\/(?:live|liveness|liveliness|ready|readiness|startup|backlog|services))?\/?(?:\?.*)?$/i;

/** A workflow tool's own spans of what it computes between its nodes. */
function isExpression(span: Span): boolean {
  const isNamed = /^(?:n8n[-.])?expression(?:[.\s-]|$)/i.test(span.name);
  return (isNamed || /(?:^|[._-])expression/i.test(span.scope?.name ?? "")) && !saysAnythingRead(span);
}

/** Anything that a reading could be of. */
function saysAnything({ attributes, events, log_records }: Span): boolean {
  if (log_records) return true;
  for (const key in attributes) if (key.startsWith("gen_ai.") && !housekeeping.has(key)) return true;
  return events.some(event => isRecord(event) && String(event["name"]).startsWith("gen_ai."));
}

/** As documented, or as any convention writes it. */
function saysAnythingRead(span: Span): boolean {
  return saysAnything(span) || Object.keys(span.attributes).some(isSignOfConvention);
}

const housekeeping = new Set(["gen_ai.operation.name"]);
