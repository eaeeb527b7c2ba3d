// The fields of a span that the trace tree shows: a few hundred bytes, however large the span is.

import type { OutlineSpan, PricedCall, SpanRole } from "../../model/trace/shown.ts";
import { storable } from "../../model/trace/storable.ts";
import type { Span } from "../../model/trace/trace.ts";
import { attributeOf } from "../span/conversation.ts";
import { roleOf } from "../span/span-role.ts";
import { wholeNumber } from "../span/whole-number.ts";
import { cachedKey, inputOf, outputOf } from "./tokens.ts";

export function outlineSpan(span: Span, call?: PricedCall): OutlineSpan {
  const role = roleOf(span);
  const input = inputOf(span);
  const output = outputOf(span);
  return {
    spanId: span.span_id,
    parentSpanId: span.parent_span_id,
    name: storable(span.name),
    startTimeUnixNano: span.start_time_unix_nano,
    endTimeUnixNano: span.end_time_unix_nano,
    failed: span.status?.code === 2,
    role,
    detail: detailOf(span, role),
    tokens:
      input === null && output === null ? null : { input, output, cached: wholeNumber(span, cachedKey) },
    call: call ? { provider: call.provider, model: call.model, costUsd: call.costUsd, why: call.why } : null,
  };
}

const details: Record<SpanRole, string[]> = {
  tool: ["gen_ai.tool.name"],
  model: ["gen_ai.request.model", "gen_ai.response.model", "llm.model_name"],
  agent: ["gen_ai.agent.name", "gen_ai.workflow.name"],
  retrieval: ["gen_ai.data_source.id"],
  http: [],
  other: [],
};

function detailOf(span: Span, role: SpanRole): string | null {
  const found = details[role].map(key => attributeOf(span, key)).find(isText);
  return found === undefined ? null : storable(found);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
