// Decodes an OTLP trace export in protobuf, directly into canonical spans.
//
// Uses protobufjs' Reader directly instead of its reflection: the spans of a 27 KB trace (19 KB in protobuf) take 22 µs
// instead of 46 µs, since reflection needs a conversion afterwards. Limits are checked while reading; reflection would
// need a separate pass before.
import { Refusal } from "../model/refusal.ts";
import type { Attributes, Span } from "../model/trace/trace.ts";
import { readId } from "./fields.ts";
import type { DecodeLimits } from "./limits.ts";
import {
  composeScope,
  composeStatus,
  Grouping,
  type Origin,
  type OtlpGroup,
  type SpanExtras,
  setExtras,
} from "./otlp-groups.ts";
import { readKeyValue, readStringOf } from "./otlp-protobuf-value.ts";
import { eightBytes, fourBytes, ProtobufWalk, sized, varint } from "./protobuf-walk.ts";

/** The fields we read, by their numbers in opentelemetry-proto 1.x, as tags. */
const tags = {
  request: { resourceSpans: 1 * 8 + sized },
  resourceSpans: { resource: 1 * 8 + sized, scopeSpans: 2 * 8 + sized, schemaUrl: 3 * 8 + sized },
  resource: { attributes: 1 * 8 + sized },
  scopeSpans: { scope: 1 * 8 + sized, spans: 2 * 8 + sized, schemaUrl: 3 * 8 + sized },
  scope: { name: 1 * 8 + sized, version: 2 * 8 + sized, attributes: 3 * 8 + sized },
  span: {
    traceId: 1 * 8 + sized,
    spanId: 2 * 8 + sized,
    traceState: 3 * 8 + sized,
    parentSpanId: 4 * 8 + sized,
    name: 5 * 8 + sized,
    kind: 6 * 8 + varint,
    startTime: 7 * 8 + eightBytes,
    endTime: 8 * 8 + eightBytes,
    attributes: 9 * 8 + sized,
    droppedAttributes: 10 * 8 + varint,
    events: 11 * 8 + sized,
    droppedEvents: 12 * 8 + varint,
    links: 13 * 8 + sized,
    droppedLinks: 14 * 8 + varint,
    status: 15 * 8 + sized,
    flags: 16 * 8 + fourBytes,
  },
  event: { time: 1 * 8 + eightBytes, name: 2 * 8 + sized, attributes: 3 * 8 + sized },
  link: { traceId: 1 * 8 + sized, spanId: 2 * 8 + sized, attributes: 4 * 8 + sized },
  status: { message: 2 * 8 + sized, code: 3 * 8 + varint },
} as const;

/** Throws OTLP_PROTOBUF_INVALID, OTLP_NO_SPANS (also for 0 bytes, an empty message), or a refusal of wire/limits. */
export function readOtlpProtobuf(bytes: Buffer, limits: DecodeLimits): OtlpGroup[] {
  const grouping = new Grouping(limits, bytes.length);
  try {
    readRequest(new ProtobufWalk(bytes, limits), grouping);
  } catch (error) {
    // A TypeError is a bug in this code; every other error means that the bytes are invalid.
    if (error instanceof Refusal || error instanceof TypeError) throw error;
    throw new Refusal("OTLP_PROTOBUF_INVALID", {
      hint: "Send an ExportTraceServiceRequest, in protobuf or as application/json.",
      cause: error,
    });
  }
  return grouping.finish();
}

function readRequest(walk: ProtobufWalk, grouping: Grouping): void {
  for (let r = 0; walk.more; ) {
    if (walk.tag() === tags.request.resourceSpans) readResourceSpans(walk, grouping, `resourceSpans[${r++}]`);
    else walk.skip();
  }
}

function readResourceSpans(walk: ProtobufWalk, grouping: Grouping, path: string): void {
  const outer = walk.enter();
  const start = walk.position;
  const described = { resource: {}, serviceName: null };
  let schemaUrl = "";
  while (walk.more) {
    const tag = walk.tag();
    if (tag === tags.resourceSpans.resource) readResource(walk, described);
    else if (tag === tags.resourceSpans.schemaUrl) schemaUrl = walk.text();
    else walk.skip();
  }
  // Fields may come in any order, and spans need their resource: one pass for the resource, one for the spans.
  walk.rewind(start);
  for (let s = 0; walk.more; ) {
    if (walk.tag() === tags.resourceSpans.scopeSpans) {
      readScopeSpans(walk, grouping, { described, schemaUrl }, `${path}.scopeSpans[${s++}]`);
    } else walk.skip();
  }
  walk.leave(outer);
}

function readResource(walk: ProtobufWalk, into: Omit<Origin, "scope">): void {
  const outer = walk.enter();
  while (walk.more) {
    if (walk.tag() === tags.resource.attributes) {
      const start = walk.position;
      if (readKeyValue(walk, into.resource) === "service.name") {
        walk.rewind(start);
        into.serviceName = readStringOf(walk) || null;
      }
    } else walk.skip();
  }
  walk.leave(outer);
}

function readScopeSpans(
  walk: ProtobufWalk,
  grouping: Grouping,
  resource: { described: Omit<Origin, "scope">; schemaUrl: string },
  path: string,
): void {
  const outer = walk.enter();
  const start = walk.position;
  const scope = { name: "", version: "", attributes: {} };
  let schemaUrl = "";
  while (walk.more) {
    const tag = walk.tag();
    if (tag === tags.scopeSpans.scope) Object.assign(scope, readScope(walk));
    else if (tag === tags.scopeSpans.schemaUrl) schemaUrl = walk.text();
    else walk.skip();
  }
  const origin: Origin = {
    ...resource.described,
    scope: composeScope(scope.name, scope.version, scope.attributes, schemaUrl || resource.schemaUrl),
  };
  walk.rewind(start);
  for (let i = 0; walk.more; ) {
    if (walk.tag() === tags.scopeSpans.spans) readSpan(walk, grouping, origin, `${path}.spans[${i++}]`);
    else walk.skip();
  }
  walk.leave(outer);
}

function readScope(walk: ProtobufWalk) {
  let name = "";
  let version = "";
  const attributes: Attributes = {};
  const outer = walk.enter();
  while (walk.more) {
    switch (walk.tag()) {
      case tags.scope.name:
        name = walk.text();
        break;
      case tags.scope.version:
        version = walk.text();
        break;
      case tags.scope.attributes:
        readKeyValue(walk, attributes);
        break;
      default:
        walk.skip();
    }
  }
  walk.leave(outer);
  return { name, version, attributes };
}

function readSpan(walk: ProtobufWalk, grouping: Grouping, origin: Origin, path: string): void {
  const ids = { traceId: "", spanId: "", parentSpanId: "" };
  const span: Span = {
    span_id: "",
    parent_span_id: null,
    name: "",
    attributes: {},
    start_time_unix_nano: null,
    end_time_unix_nano: null,
    status: null,
    events: [],
  };
  const links: unknown[] = [];
  const extras: SpanExtras = {};
  const outer = walk.enter();
  while (walk.more) {
    switch (walk.tag()) {
      case tags.span.traceId:
        ids.traceId = walk.id();
        break;
      case tags.span.spanId:
        ids.spanId = walk.id();
        break;
      case tags.span.parentSpanId:
        ids.parentSpanId = walk.id();
        break;
      case tags.span.name:
        span.name = walk.text();
        break;
      case tags.span.kind:
        span.kind = walk.int32();
        break;
      case tags.span.startTime:
        span.start_time_unix_nano = readTime(walk);
        break;
      case tags.span.endTime:
        span.end_time_unix_nano = readTime(walk);
        break;
      case tags.span.attributes:
        readKeyValue(walk, span.attributes);
        break;
      case tags.span.droppedAttributes:
        extras.dropped_attributes_count = walk.uint32();
        break;
      case tags.span.droppedEvents:
        extras.dropped_events_count = walk.uint32();
        break;
      case tags.span.droppedLinks:
        extras.dropped_links_count = walk.uint32();
        break;
      case tags.span.traceState:
        extras.trace_state = walk.text();
        break;
      case tags.span.flags:
        extras.flags = walk.fixed32();
        break;
      case tags.span.events:
        span.events.push(readEvent(walk));
        break;
      case tags.span.links:
        links.push(readLink(walk));
        break;
      case tags.span.status:
        span.status = readStatus(walk);
        break;
      default:
        walk.skip();
    }
  }
  walk.leave(outer);
  if (span.kind === 0) delete span.kind;
  if (links.length > 0) span.links = links;
  setExtras(span, extras);
  grouping.add(origin, ids, path, () => span);
}

function readStatus(walk: ProtobufWalk): Span["status"] {
  let code = 0;
  let message = "";
  const outer = walk.enter();
  while (walk.more) {
    const tag = walk.tag();
    if (tag === tags.status.code) code = walk.int32();
    else if (tag === tags.status.message) message = walk.text();
    else walk.skip();
  }
  walk.leave(outer);
  return composeStatus(code, message);
}

function readEvent(walk: ProtobufWalk): Record<string, unknown> {
  const event = { name: "", time_unix_nano: null as string | null, attributes: {} };
  const outer = walk.enter();
  while (walk.more) {
    const tag = walk.tag();
    if (tag === tags.event.time) event.time_unix_nano = readTime(walk);
    else if (tag === tags.event.name) event.name = walk.text();
    else if (tag === tags.event.attributes) readKeyValue(walk, event.attributes);
    else walk.skip();
  }
  walk.leave(outer);
  return event;
}

function readLink(walk: ProtobufWalk): Record<string, unknown> {
  const link = { trace_id: null as string | null, span_id: null as string | null, attributes: {} };
  const outer = walk.enter();
  while (walk.more) {
    const tag = walk.tag();
    if (tag === tags.link.traceId) link.trace_id = readId(walk.id(), 32);
    else if (tag === tags.link.spanId) link.span_id = readId(walk.id(), 16);
    else if (tag === tags.link.attributes) readKeyValue(walk, link.attributes);
    else walk.skip();
  }
  walk.leave(outer);
  return link;
}

/** A time of 0 counts as absent. */
function readTime(walk: ProtobufWalk): string | null {
  const time = walk.fixed64();
  return time === "0" ? null : time;
}
