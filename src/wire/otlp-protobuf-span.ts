// Decodes a span of an OTLP trace export in protobuf, with its events, links and status.
import { newSpan } from "../model/trace/new-span.ts";
import type { Span } from "../model/trace/trace.ts";
import { readId } from "./fields.ts";
import { composeStatus, type Grouping, type Origin, setExtras } from "./otlp-groups.ts";
import { readKeyValue } from "./otlp-protobuf-value.ts";
import { eightBytes, fourBytes, type ProtobufWalk, sized, varint } from "./protobuf-walk.ts";

/** The fields we read, by their numbers in opentelemetry-proto 1.x, as tags. */
const tags = {
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
  event: {
    time: 1 * 8 + eightBytes,
    name: 2 * 8 + sized,
    attributes: 3 * 8 + sized,
    droppedAttributes: 4 * 8 + varint,
  },
  link: {
    traceId: 1 * 8 + sized,
    spanId: 2 * 8 + sized,
    traceState: 3 * 8 + sized,
    attributes: 4 * 8 + sized,
    droppedAttributes: 5 * 8 + varint,
    flags: 6 * 8 + fourBytes,
  },
  status: { message: 2 * 8 + sized, code: 3 * 8 + varint },
} as const;

export function readSpan(walk: ProtobufWalk, grouping: Grouping, origin: Origin, path: string): void {
  const ids = { traceId: "", spanId: "", parentSpanId: "" };
  const span = newSpan();
  const links: unknown[] = [];
  const extras: Record<string, number | string> = {};
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
        extras["dropped_attributes_count"] = walk.uint32();
        break;
      case tags.span.droppedEvents:
        extras["dropped_events_count"] = walk.uint32();
        break;
      case tags.span.droppedLinks:
        extras["dropped_links_count"] = walk.uint32();
        break;
      case tags.span.traceState:
        extras["trace_state"] = walk.text();
        break;
      case tags.span.flags:
        extras["flags"] = walk.fixed32();
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
  const extras: Record<string, number> = {};
  const outer = walk.enter();
  while (walk.more) {
    const tag = walk.tag();
    if (tag === tags.event.time) event.time_unix_nano = readTime(walk);
    else if (tag === tags.event.name) event.name = walk.text();
    else if (tag === tags.event.attributes) readKeyValue(walk, event.attributes);
    else if (tag === tags.event.droppedAttributes) extras["dropped_attributes_count"] = walk.uint32();
    else walk.skip();
  }
  walk.leave(outer);
  return setExtras(event, extras);
}

function readLink(walk: ProtobufWalk): Record<string, unknown> {
  const link = { trace_id: null as string | null, span_id: null as string | null, attributes: {} };
  const extras: Record<string, number | string> = {};
  const outer = walk.enter();
  while (walk.more) {
    const tag = walk.tag();
    if (tag === tags.link.traceId) link.trace_id = readId(walk.id(), 32);
    else if (tag === tags.link.spanId) link.span_id = readId(walk.id(), 16);
    else if (tag === tags.link.attributes) readKeyValue(walk, link.attributes);
    else if (tag === tags.link.droppedAttributes) extras["dropped_attributes_count"] = walk.uint32();
    else if (tag === tags.link.traceState) extras["trace_state"] = walk.text();
    else if (tag === tags.link.flags) extras["flags"] = walk.fixed32();
    else walk.skip();
  }
  walk.leave(outer);
  return setExtras(link, extras);
}

/** A time of 0 counts as absent. */
function readTime(walk: ProtobufWalk): string | null {
  const time = walk.fixed64();
  return time === "0" ? null : time;
}
