// Decodes an OTLP trace export in protobuf, directly into canonical spans.
//
// Uses protobufjs' Reader directly instead of its reflection: the spans of a 27 KB trace (19 KB in protobuf) take 22 µs
// instead of 46 µs, since reflection needs a conversion afterwards. Limits are checked while reading; reflection would
// need a separate pass before.
import { Refusal } from "../model/refusal.ts";
import type { Attributes } from "../model/trace/trace.ts";
import type { DecodeLimits } from "./limits.ts";
import {
  composeResourceExtras,
  composeScope,
  Grouping,
  type Origin,
  type OtlpGroup,
  type SentScope,
} from "./otlp-groups.ts";
import { readSpan } from "./otlp-protobuf-span.ts";
import { readKeyValue, readStringOf } from "./otlp-protobuf-value.ts";
import { ProtobufWalk, sized, varint } from "./protobuf-walk.ts";

/** The fields we read, by their numbers in opentelemetry-proto 1.x, as tags. */
const tags = {
  request: { resourceSpans: 1 * 8 + sized },
  resourceSpans: { resource: 1 * 8 + sized, scopeSpans: 2 * 8 + sized, schemaUrl: 3 * 8 + sized },
  resource: { attributes: 1 * 8 + sized, droppedAttributes: 2 * 8 + varint },
  scopeSpans: { scope: 1 * 8 + sized, spans: 2 * 8 + sized, schemaUrl: 3 * 8 + sized },
  scope: {
    name: 1 * 8 + sized,
    version: 2 * 8 + sized,
    attributes: 3 * 8 + sized,
    droppedAttributes: 4 * 8 + varint,
  },
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
  const sent: SentResource = { resource: {}, serviceName: null, droppedAttributes: 0 };
  let schemaUrl = "";
  while (walk.more) {
    const tag = walk.tag();
    if (tag === tags.resourceSpans.resource) readResource(walk, sent);
    else if (tag === tags.resourceSpans.schemaUrl) schemaUrl = walk.text();
    else walk.skip();
  }
  const { resource, serviceName, droppedAttributes } = sent;
  const resourceExtras = composeResourceExtras(schemaUrl, droppedAttributes);
  // Fields may come in any order, and spans need their resource: one pass for the resource, one for the spans.
  walk.rewind(start);
  for (let s = 0; walk.more; ) {
    if (walk.tag() === tags.resourceSpans.scopeSpans) {
      readScopeSpans(walk, grouping, { resource, serviceName, resourceExtras }, `${path}.scopeSpans[${s++}]`);
    } else walk.skip();
  }
  walk.leave(outer);
}

export type SentResource = Pick<Origin, "resource" | "serviceName"> & { droppedAttributes: number };

/** Fields that a message has in several pieces are merged. */
export function readResource(walk: ProtobufWalk, into: SentResource): void {
  const outer = walk.enter();
  while (walk.more) {
    const tag = walk.tag();
    if (tag === tags.resource.attributes) {
      const start = walk.position;
      if (readKeyValue(walk, into.resource) === "service.name") {
        walk.rewind(start);
        into.serviceName = readStringOf(walk) || null;
      }
    } else if (tag === tags.resource.droppedAttributes) into.droppedAttributes = walk.uint32();
    else walk.skip();
  }
  walk.leave(outer);
}

function readScopeSpans(
  walk: ProtobufWalk,
  grouping: Grouping,
  resource: Omit<Origin, "scope">,
  path: string,
): void {
  const outer = walk.enter();
  const start = walk.position;
  const scope: SentScope = { name: "", version: "", attributes: {}, droppedAttributes: 0, schemaUrl: "" };
  while (walk.more) {
    const tag = walk.tag();
    if (tag === tags.scopeSpans.scope) Object.assign(scope, readScope(walk));
    else if (tag === tags.scopeSpans.schemaUrl) scope.schemaUrl = walk.text();
    else walk.skip();
  }
  const origin: Origin = { ...resource, scope: composeScope(scope) };
  walk.rewind(start);
  for (let i = 0; walk.more; ) {
    if (walk.tag() === tags.scopeSpans.spans) readSpan(walk, grouping, origin, `${path}.spans[${i++}]`);
    else walk.skip();
  }
  walk.leave(outer);
}

function readScope(walk: ProtobufWalk): Omit<SentScope, "schemaUrl"> {
  let name = "";
  let version = "";
  let droppedAttributes = 0;
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
      case tags.scope.droppedAttributes:
        droppedAttributes = walk.uint32();
        break;
      default:
        walk.skip();
    }
  }
  walk.leave(outer);
  return { name, version, attributes, droppedAttributes };
}
