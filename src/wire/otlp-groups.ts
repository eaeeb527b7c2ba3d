// Groups the spans of an OTLP request into traces, each accepted or refused as a whole.
import { isDeepStrictEqual } from "node:util";
import { Refusal } from "../model/refusal.ts";
import type { Attributes, Batch, Span } from "../model/trace/trace.ts";
import { serviceNameFix } from "../reading/presets/service-name.ts";
import { readId } from "./fields.ts";
import { type DecodeLimits, tooManySpans, tooManyTraces, tooMuchRepeated } from "./limits.ts";
import { isEmpty, type Target } from "./otlp-fields.ts";

/** The spans of one service and one traceId. A refused group has no spans, only their number. */
export type OtlpGroup = {
  /** Null if the resource has none, and for the group of the spans whose traceId is invalid. */
  serviceName: string | null;
  /** 32 lower-case hexadecimal characters; null for the one group of the spans whose traceId is invalid. */
  traceId: string | null;
  /** As sent: a span_id sent twice counts twice. */
  spanCount: number;
  /** Groups of one resource have the same object in `resource`. */
  batch: Batch;
  refusal: Refusal | null;
};

/** The data shared by the spans of one scope. */
export type Origin = {
  serviceName: string | null;
  resource: Attributes;
  scope: NonNullable<Span["scope"]> | null;
  /** Stored with each span: those of a trace may have different resources. Null if there are none. */
  resourceExtras: ResourceExtras | null;
};

type ResourceExtras = Pick<Span, "resource_schema_url" | "resource_dropped_attributes_count">;

/** The ids of a span or log record as sent; hexadecimal text if valid. */
export type SentIds = { traceId?: unknown; spanId?: unknown; parentSpanId?: unknown };

/** Takes the spans or log records of a request, in the order they were sent. */
export type Taker = {
  /** `read`: what is stored of it, but for its ids. A Refusal that it throws refuses no others than those it belongs to. */
  add(origin: Origin, ids: SentIds, path: string, read: () => Target): void;
};

/**
 * Groups spans in the order they were sent. If a group has several errors, its first invalid span is reported, and only
 * then a missing service.name.
 */
export class Grouping implements Taker {
  readonly #limits: DecodeLimits;
  readonly #groups = new Map<string, Group>();
  readonly #repetition: Repetition;
  #spanCount = 0;

  /** `bodyBytes`: the size of the request's body. */
  constructor(limits: DecodeLimits, bodyBytes: number) {
    this.#limits = limits;
    this.#repetition = new Repetition(bodyBytes);
  }

  /**
   * Counts one span and adds it to its group. `read` parses the span except its ids, resource and scope; a Refusal
   * that it throws refuses the group. It is not called for a group that is refused already.
   */
  add(origin: Origin, ids: SentIds, path: string, read: () => Target): void {
    if (++this.#spanCount > this.#limits.spansMax) throw tooManySpans(this.#limits);
    const traceId = readId(ids.traceId, 32);
    const group = this.#group(origin, traceId);
    group.spanCount++;
    if (group.refusal !== null) return;
    try {
      const span = read() as Span;
      if (traceId === null)
        throw idInvalid(`${path}.traceId`, "must be 32 hexadecimal characters, not all zero");
      setIds(span, ids, path);
      group.put(span, origin, this.#repetition);
    } catch (error) {
      if (!(error instanceof Refusal) || error.code === "PAYLOAD_TOO_LARGE") throw error;
      group.refuse(error);
    }
  }

  /** In order of first appearance. Throws OTLP_NO_SPANS if there are none. */
  finish(): OtlpGroup[] {
    if (this.#spanCount === 0) throw new Refusal("OTLP_NO_SPANS");
    return Array.from(this.#groups.values(), group => group.finish());
  }

  #group(origin: Origin, traceId: string | null): Group {
    // A traceId has 32 characters, so the key is unambiguous.
    const key = traceId === null ? "" : traceId + (origin.serviceName ?? "");
    let group = this.#groups.get(key);
    if (group === undefined) {
      if (this.#groups.size === this.#limits.tracesMax) throw tooManyTraces(this.#limits);
      group = new Group(traceId === null ? null : origin.serviceName, traceId);
      this.#groups.set(key, group);
    }
    return group;
  }
}

class Group {
  readonly serviceName: string | null;
  readonly traceId: string | null;
  spanCount = 0;
  refusal: Refusal | null = null;
  readonly #spans = new Map<string, Span>();
  /** The name of the first span's scope. */
  #scope = "";
  /** The resource of the first span. */
  #resource: Attributes | null = null;
  /** The resource of the last span; null in `#differing` if it equals the first one. */
  #last: Attributes | null = null;
  #differing: Attributes | null = null;

  constructor(serviceName: string | null, traceId: string | null) {
    this.serviceName = serviceName;
    this.traceId = traceId;
  }

  /** A span_id sent again replaces the earlier span. */
  put(span: Span, { resource, resourceExtras, scope }: Origin, repetition: Repetition): void {
    if (scope !== null) {
      this.#scope ||= scope.name ?? "";
      repetition.count(scope);
      span.scope = scope;
    }
    if (resourceExtras !== null) {
      repetition.count(resourceExtras);
      Object.assign(span, resourceExtras);
    }
    this.#resource ??= resource;
    if (resource !== this.#last) {
      this.#last = resource;
      this.#differing = isDeepStrictEqual(resource, this.#resource) ? null : resource;
    }
    if (this.#differing !== null) {
      repetition.count(this.#differing);
      span.resource = this.#differing;
    }
    this.#spans.set(span.span_id, span);
  }

  refuse(refusal: Refusal): void {
    this.refusal = refusal;
    this.#spans.clear();
  }

  finish(): OtlpGroup {
    if (this.refusal === null && this.serviceName === null) {
      this.refuse(
        new Refusal("OTLP_SERVICE_NAME_REQUIRED", {
          hint: serviceNameFix(this.#scope),
        }),
      );
    }
    return {
      serviceName: this.serviceName,
      traceId: this.traceId,
      spanCount: this.spanCount,
      batch: { spans: [...this.#spans.values()], resource: this.#resource, metadata: null },
      refusal: this.refusal,
    };
  }
}

/** The most JSON that repeated scopes and resources of spans may add to a request. */
export const repeatedBytesMax = 64 * 1024 * 1024;
// Whatever its size, a request may add this much, such as 1 KB for each of 8,192 spans.
const repeatedBytesFree = 8 * 1024 * 1024;

/**
 * Limits how much a request grows when it is stored, to four times its size: spans of a request share scopes, and spans of
 * a trace resources, but each span is stored with its own copy. A body of 12 MB with one long scope name and 40 spans
 * became 480 MB of JSON. The resource that a trace has in common is not counted: prepare.ts stores it once.
 */
class Repetition {
  readonly #bytesMax: number;
  /** Characters of JSON, measured when an object is stored for the second time; 0 until then. */
  readonly #lengths = new Map<object, number>();
  #bytes = 0;

  constructor(bodyBytes: number) {
    this.#bytesMax = Math.min(repeatedBytesMax, Math.max(repeatedBytesFree, 4 * bodyBytes));
  }

  /** Call each time the object is stored. Throws PAYLOAD_TOO_LARGE. */
  count(shared: object): void {
    const known = this.#lengths.get(shared);
    if (known === undefined) {
      this.#lengths.set(shared, 0);
      return;
    }
    const length = known || JSON.stringify(shared).length;
    if (known === 0) this.#lengths.set(shared, length);
    this.#bytes += length;
    if (this.#bytes > this.#bytesMax) throw tooMuchRepeated(this.#bytesMax);
  }
}

/** Of what is stored of an envelope's resource and its schema. */
export function originOf(envelope: Target, serviceName: string | null): Omit<Origin, "scope"> {
  const { attributes = {}, dropped_attributes_count } = (envelope["resource"] ?? {}) as SentResource;
  const extras: ResourceExtras = {};
  if (envelope["schema_url"]) extras.resource_schema_url = envelope["schema_url"] as string;
  if (dropped_attributes_count) extras.resource_dropped_attributes_count = dropped_attributes_count;
  return { serviceName, resource: attributes, resourceExtras: isEmpty(extras) ? null : extras };
}

type SentResource = { attributes?: Attributes; dropped_attributes_count?: number };

/** The same of an envelope's scope, without empty fields; null if all are empty. */
export function scopeOf({ scope: sent, schema_url }: Target): Origin["scope"] {
  const { attributes, ...scope } = { ...(sent as SentScope), ...(schema_url ? { schema_url } : {}) };
  const whole = attributes && !isEmpty(attributes) ? { ...scope, attributes } : scope;
  return isEmpty(whole) ? null : (whole as Origin["scope"]);
}

type SentScope = { attributes?: Attributes };

function setIds(span: Span, ids: SentIds, path: string): void {
  const spanId = readId(ids.spanId, 16);
  if (spanId === null) throw idInvalid(`${path}.spanId`, "must be 16 hexadecimal characters, not all zero");
  span.span_id = spanId;
  const parent = ids.parentSpanId ?? "";
  if (parent === "") return;
  span.parent_span_id = readId(parent, 16);
  if (span.parent_span_id === null) {
    throw idInvalid(
      `${path}.parentSpanId`,
      "must be absent, empty, or 16 hexadecimal characters, not all zero",
    );
  }
}

function idInvalid(path: string, message: string): Refusal {
  return new Refusal("OTLP_ID_INVALID", {
    hint: "Ids must be hexadecimal, not base64. This endpoint takes traces only; logs go to /public/logs.",
    issues: [{ path, message }],
  });
}
