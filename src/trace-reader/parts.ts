// Writes the parts of a loaded trace as JSON, each within its bounds.

import type { LoadedTrace } from "../load.ts";
import { ValueAllowance } from "../model/json-text.ts";
import type { RuleCounts } from "../model/redaction.ts";
import { storable } from "../model/trace/storable.ts";
import type { Attributes, Derived, Span, ToolCall, TracePath } from "../model/trace/trace.ts";
import { type Cut, type Path, truncateValue } from "../model/truncate.ts";
import { columnsOf } from "../reading/derived/columns.ts";
import { outlineSpan } from "../reading/derived/outline.ts";
import { type ConventionReport, type Preview, reportOf } from "../reading/derived/report.ts";
import { costOfTrace, costView, type PricesOfDay } from "../reading/derived/usage.ts";
import { attributeOf, structureOf } from "../reading/span/conversation.ts";
import { sourceOf } from "../reading/span/sources.ts";

/** The part of a trace that does not depend on its runs. `spans` is a JSON list. */
export type OutlinePart = {
  head: Pick<
    Derived,
    | "name"
    | "durationMs"
    | "tokens"
    | "failed"
    | "spanCount"
    | "startTimeUnixNano"
    | "endTimeUnixNano"
    | "rootSpanId"
    | "notices"
    | "otherConvention"
    | "noise"
    | "severalModelCalls"
  > &
    ConventionReport &
    ReturnType<typeof costView> & {
      revision: number;
      httpStatus: number | null;
      /** Truncated, as in lists. */
      userInput: string | null;
      responseText: string | null;
      metadata: Attributes | null;
      resource: Attributes | null;
      redactions: RuleCounts;
    } & Pick<Cut<unknown>, "cuts" | "omissions">;
  spans: Uint8Array;
};

/** What a whole trace is, without its runs: a JSON object of spans and derived values. */
export type WholePart = { revision: number; notices: Derived["notices"]; json: Uint8Array };

export function shortPreview({ userInput, responseText, tools, ...rest }: Preview): Preview {
  return {
    ...rest,
    userInput: userInput && storable(userInput),
    responseText: responseText && storable(responseText),
    tools: tools.slice(0, previewedTools).map(storable),
  };
}

const previewedTools = 50;

export function outlineOf(loaded: LoadedTrace, prices: PricesOfDay): OutlinePart {
  const { trace, derived, revision } = loaded;
  const { name, durationMs, failed, spanCount, httpStatus, userInput, responseText } = columnsOf(derived, []);
  const {
    tokens,
    startTimeUnixNano,
    endTimeUnixNano,
    rootSpanId,
    notices,
    otherConvention,
    noise,
    severalModelCalls,
  } = derived;
  const { metadata, resource } = trace;
  const { calls, ...cost } = costOfTrace(derived.modelCalls, prices);
  const bySpan = new Map(calls.map(call => [call.spanId, call]));
  const context = truncateValue({ metadata, resource }, contextBytesMax);
  return {
    head: {
      revision,
      name,
      durationMs,
      httpStatus,
      tokens,
      failed,
      spanCount,
      userInput,
      responseText,
      startTimeUnixNano,
      endTimeUnixNano,
      rootSpanId,
      notices,
      otherConvention,
      noise,
      severalModelCalls,
      ...costView(cost),
      ...reportOf(loaded),
      ...context.value,
      redactions: trace.redactions ?? {},
      cuts: context.cuts,
      omissions: context.omissions,
    },
    spans: jsonOf(loaded.read.spans.map(span => outlineSpan(span, bySpan.get(span.span_id)))),
  };
}

const contextBytesMax = 32 * 1024;
// With the list of truncated places, a span stays below 256 KB.
const attributesBytesMax = 176 * 1024;
const restBytesMax = 48 * 1024;

/** Attributes have a budget of their own, because they are what users look at. */
export function cutSpan({
  attributes,
  ...rest
}: Span): { span: Span } & Pick<Cut<unknown>, "cuts" | "omissions"> {
  const outer = truncateValue(rest, restBytesMax);
  const inner = truncateValue(attributes, attributesBytesMax);
  const within = <T extends { path: Path }>(found: T): T => ({
    ...found,
    path: ["attributes", ...found.path],
  });
  return {
    span: { ...outer.value, attributes: inner.value },
    cuts: [...outer.cuts, ...inner.cuts.map(within)],
    omissions: [...outer.omissions, ...inner.omissions.map(within)],
  };
}

export function wholeOf(loaded: LoadedTrace, prices: PricesOfDay): WholePart {
  const { trace, derived, revision } = loaded;
  const {
    notices,
    httpStatus,
    userInput,
    responseText,
    toolCalls,
    judgedText: _,
    models: __,
    modelCalls,
    tokenSpans: ___,
    unmeasured: ____,
    ...values
  } = derived;
  const { calls, ...cost } = costOfTrace(modelCalls, prices);
  const json = jsonOf({
    ...values,
    redactions: trace.redactions ?? {},
    ...costView(cost),
    modelCalls: calls,
    ...reportOf(loaded),
    toolCalls: shownCalls(toolCalls, loaded.read.spans),
    httpStatus: httpStatus?.value ?? null,
    userInput: userInput?.text ?? null,
    responseText: responseText?.text ?? null,
    spans: trace.spans,
    metadata: trace.metadata,
    resource: trace.resource,
  });
  return { revision, notices, json };
}

/** With results, and how each was read. */
function shownCalls(calls: ToolCall[], spans: Span[]): object[] {
  const byId = new Map(spans.map(span => [span.span_id, span]));
  const allowance = new ValueAllowance();
  return calls.map(call => {
    const span = byId.get(call.spanId);
    const sent = span && attributeOf(span, "gen_ai.tool.call.result");
    const result = "result" in call ? call.result : (structureOf(sent, allowance) ?? sent ?? null);
    const named = span && sourceOf(span, "gen_ai.tool.name")?.convention;
    return { ...call, result, convention: named ?? span?.reading?.convention ?? null };
  });
}

/** Serializes span by span: the text of all spans may exceed the maximum length of a string. */
export function rawOf(
  { traceId, revision, trace }: LoadedTrace,
  { externalId, path }: { externalId: string; path: TracePath },
): Uint8Array {
  const { metadata, resource, spans } = trace;
  const head = JSON.stringify({ traceId, externalId, path, revision, metadata, resource });
  const parts = [Buffer.from(`${head.slice(0, -1)},"spans":[`)];
  spans.forEach((span, at) => {
    parts.push(Buffer.from(`${at === 0 ? "\n" : ",\n"}${JSON.stringify(span)}`));
  });
  return ownBytes(Buffer.concat([...parts, Buffer.from("\n]}\n")]));
}

export function jsonOf(value: unknown): Uint8Array {
  return ownBytes(Buffer.from(JSON.stringify(value)));
}

/** Bytes that can be moved to another thread: not a view of Node's pool for small buffers. */
function ownBytes(bytes: Buffer): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}
