// Reads an OTLP request in protobuf, directly into what is stored of its spans or log records.
//
// Without protobufjs' reflection: that would need a conversion afterwards, and a pass for the limits before.
import { Refusal } from "../model/refusal.ts";
import type { Attributes } from "../model/trace/trace.ts";
import { readId } from "./fields.ts";
import type { DecodeLimits } from "./limits.ts";
import { type Field, logs, type Message, putMessage, resource, type Target, traces } from "./otlp-fields.ts";
import {
  Grouping,
  type Origin,
  type OtlpGroup,
  originOf,
  type SentIds,
  scopeOf,
  type Taker,
} from "./otlp-groups.ts";
import { ProtobufWalk } from "./protobuf-walk.ts";
import { unusual } from "./unusual.ts";
import type { Visitor } from "./visitor.ts";

/** Throws OTLP_PROTOBUF_INVALID, OTLP_NO_SPANS (also for 0 bytes, an empty message), or a refusal of wire/limits. */
export function readOtlpProtobuf(bytes: Buffer, limits: DecodeLimits): OtlpGroup[] {
  const grouping = new Grouping(limits, bytes.length);
  read(bytes, limits, traces, grouping, "ExportTraceServiceRequest");
  return grouping.finish();
}

export function readLogsProtobuf(bytes: Buffer, limits: DecodeLimits, taker: Taker): void {
  read(bytes, limits, logs, taker, "ExportLogsServiceRequest");
}

function read(bytes: Buffer, limits: DecodeLimits, request: Message, taker: Taker, name: string): void {
  try {
    new ProtobufWalk(bytes, limits, new Decoder(taker)).walk(request);
  } catch (error) {
    if (error !== unusual) throw error;
    const hint = `Send an ${name}, in protobuf or as application/json.`;
    throw new Refusal("OTLP_PROTOBUF_INVALID", { hint });
  }
}

class Decoder implements Visitor<ProtobufWalk> {
  readonly isStrict = false;
  readonly #taker: Taker;
  /** Of the message that is being read, and of those around it. */
  #target: Target = {};
  readonly #outer: Target[] = [];
  /** The paths of the envelopes and of the item that is being read, and how many each has had. */
  readonly #paths = [""];
  readonly #counts = [0];
  #serviceName: string | null = null;
  #resource: Omit<Origin, "scope"> = { serviceName: null, resource: {}, resourceExtras: null };
  #origin: Origin = { ...this.#resource, scope: null };
  #ids: SentIds = {};

  constructor(taker: Taker) {
    this.#taker = taker;
  }

  enter({ message, name, stored }: Field): number {
    const outer = this.#target;
    this.#outer.push(outer);
    // A resource in several pieces is one.
    this.#target = message === resource && outer[stored] ? (outer[stored] as Target) : message.create();
    if (stored !== "") return 0;
    const level = this.#paths.length - 1;
    this.#paths.push(`${this.#paths[level]}${level === 0 ? "" : "."}${name}[${this.#counts[level]!++}]`);
    this.#counts.push(0);
    if (level === 0) this.#serviceName = null;
    if (!message.items) this.#ids = { traceId: "", spanId: "", parentSpanId: "" };
    return 0;
  }

  described(): void {
    if (this.#outer.length === 1) this.#resource = originOf(this.#target, this.#serviceName);
    else this.#origin = { ...this.#resource, scope: scopeOf(this.#target) };
  }

  leave(field: Field): void {
    const target = this.#target;
    this.#target = this.#outer.pop()!;
    if (field.stored !== "") {
      putMessage(this.#target, field, target);
      return;
    }
    const path = this.#paths.pop()!;
    this.#counts.pop();
    if (!field.message.items) this.#taker.add(this.#origin, this.#ids, path, () => target);
  }

  scalar(field: Field, walk: ProtobufWalk): void {
    if (field.stored === "") {
      this.#ids[field.name as keyof SentIds] = walk.id();
      return;
    }
    const value = readScalar(field, walk);
    if (value || !field.isOptional) this.#target[field.stored] = value;
    // The last of a repeated field counts.
    else delete this.#target[field.stored];
  }

  attribute(field: Field, walk: ProtobufWalk, end: number): void {
    const attributes = this.#target["attributes"] as Attributes;
    const key = walk.readAttribute(attributes, end);
    // Only a string counts, while attributes read other types as text.
    if (field === resource.of.attributes && key === "service.name")
      this.#serviceName = walk.isText ? (attributes[key] as string) || null : null;
  }

  value(field: Field, walk: ProtobufWalk, end: number): void {
    this.#target[field.stored] = walk.readValue(end);
  }
}

function readScalar({ kind, name }: Field, walk: ProtobufWalk): unknown {
  switch (kind) {
    case "id":
      return readId(walk.id(), name === "traceId" ? 32 : 16);
    case "time":
      return walk.time();
    case "enum":
      return walk.number | 0;
    case "uint32":
    case "fixed32":
      return walk.number;
    default:
      return walk.text();
  }
}
