// Makes request bodies for the tests of this room, and decodes them.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Refusal } from "../../src/model/refusal.ts";
import type { RefusalCode } from "../../src/model/refusals.ts";
import type { Span } from "../../src/model/trace/trace.ts";
import { type DecodedBody, decodeBody } from "../../src/wire/body.ts";
import { type DecodeLimits, decodeLimits } from "../../src/wire/limits.ts";
import type { OtlpGroup } from "../../src/wire/otlp-groups.ts";

type Json = Record<string, unknown>;

export const traceId = "0af7651916cd43dd8448eb211c80319c";
export const otherTraceId = "1bf7651916cd43dd8448eb211c80319c";
export const spanId = "b7ad6b7169203331";

export function fixture(name: string): Buffer {
  return readFileSync(new URL(`../fixtures/otlp/${name}`, import.meta.url));
}

/** An OTLP JSON span, valid unless `more` says otherwise. */
export function otlpSpan(more: Json = {}): Json {
  return { traceId, spanId, name: "step", ...more };
}

export type ResourceSpans = {
  resource: { attributes: Json[] };
  scopeSpans: { scope?: Json; spans: unknown }[];
};

/** Spans of one resource and scope. A service name of null leaves the attribute out. */
export function resourceSpans(
  serviceName: string | null,
  spans: unknown,
  resource: Json[] = [],
): ResourceSpans {
  const named = serviceName === null ? [] : [{ key: "service.name", value: { stringValue: serviceName } }];
  return { resource: { attributes: [...named, ...resource] }, scopeSpans: [{ spans }] };
}

export function otlpRequest(spans: unknown): Json {
  return { resourceSpans: [resourceSpans("agent", spans)] };
}

/** `body`: JSON text, or what is to be written as JSON. */
export function decodeJson(body: unknown, limits: DecodeLimits = decodeLimits): DecodedBody {
  return decodeBody(Buffer.from(typeof body === "string" ? body : JSON.stringify(body)), "json", limits);
}

export function groupsOf(body: DecodedBody): OtlpGroup[] {
  assert.equal(body.path, "otlp");
  return (body as Extract<DecodedBody, { path: "otlp" }>).groups;
}

/** The groups of an OTLP JSON request. */
export function otlpGroups(body: unknown, limits?: DecodeLimits): OtlpGroup[] {
  return groupsOf(decodeJson(body, limits));
}

/** The one span of an OTLP JSON request that holds no other. */
export function decodedSpan(sent: Json): Span {
  const [group] = otlpGroups(otlpRequest([otlpSpan(sent)]));
  assert.equal(group!.refusal, null);
  return group!.batch.spans[0]!;
}

/** The value a span's attribute has after decoding. */
export function decodedValue(value: unknown): unknown {
  return decodedSpan({ attributes: [{ key: "a", value }] }).attributes["a"];
}

export function canonicalSpans(body: unknown): Span[] {
  const decoded = decodeJson(body);
  assert.equal(decoded.path, "canonical");
  return (decoded as Extract<DecodedBody, { path: "canonical" }>).batch.spans;
}

/** What was thrown, which must be a Refusal of this code. */
export function refusalOf(code: RefusalCode, run: () => unknown): Refusal {
  try {
    run();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    assert.equal(error.code, code);
    return error;
  }
  assert.fail(`${code} was not thrown`);
}
