// Why a model stopped: from the attributes that name it, and from its output as its SDK recorded it.

import { isRecord } from "../../model/record.ts";
import type { Span } from "../../model/trace/trace.ts";
import { attributeOf } from "./conversation.ts";
import { fieldsOf } from "./message-events.ts";
import type { Sourced } from "./reading.ts";
import { decode } from "./values.ts";

export const finishReasonsKey = "gen_ai.response.finish_reasons";

const reasonsMax = 10;
const lengthMax = 100;
const depthMax = 8;

/** As sent, each choice of the model once: `stop`, `length`, `MAX_TOKENS`. Empty if the attribute has none. */
export function finishReasonsIn(span: Span, attribute = finishReasonsKey): string[] {
  const sent = attributeOf(span, attribute);
  if (sent === undefined) return [];
  const value = decode(sent);
  return bounded(Array.isArray(value) ? value : [value]);
}

function bounded(values: unknown[]): string[] {
  const reasons = values.filter(
    value => typeof value === "string" && /\S/.test(value) && value.length <= lengthMax,
  );
  return (reasons as string[]).slice(0, reasonsMax);
}

/** `named`: attributes with the reason itself; `outputs`: those with what the model gave, by what reads them. */
export function readFinishReasons(
  span: Span,
  named: string[],
  outputs: string[],
  valueAt: (span: Span, attribute: string) => Sourced<unknown> | null,
): Sourced<string[]> | null {
  const found = (value: string[], attribute: string) => ({ value, spanId: span.span_id, attribute });
  for (const attribute of [...named, finishReasonsKey, "gen_ai.response.finish_reason"]) {
    const reasons = finishReasonsIn(span, attribute);
    if (reasons.length > 0) return found(reasons, attribute);
  }
  for (const attribute of outputs) {
    // A text that the user reads may quote one.
    if (attribute === "gen_ai.response.text") continue;
    const sent = attributeOf(span, attribute);
    // Most outputs need not be parsed once more.
    if (typeof sent === "string" && !/finish_?reason/i.test(sent)) continue;
    const output = valueAt(span, attribute);
    const reasons = output ? bounded(reasonsIn(output.value, 0)) : [];
    if (output && reasons.length > 0) return { ...output, value: reasons };
  }
  const choices = [
    ...span.events.flatMap(event =>
      isRecord(event) && event["name"] === choice && isRecord(event["attributes"])
        ? [event["attributes"]]
        : [],
    ),
    ...(span.log_records ?? []).flatMap(record => (record.event_name === choice ? [fieldsOf(record)] : [])),
  ];
  const reasons = bounded(choices.map(fields => fields["finish_reason"]));
  return reasons.length > 0 ? found(reasons, choice) : null;
}

const choice = "gen_ai.choice";

/** The outermost ones: what a model gave may quote others. */
function reasonsIn(value: unknown, depth: number): unknown[] {
  if (depth > depthMax) return [];
  if (typeof value === "string") {
    const decoded = depth < 2 ? decode(value) : value;
    return typeof decoded === "string" ? [] : reasonsIn(decoded, depth + 1);
  }
  if (Array.isArray(value)) return value.slice(0, 100).flatMap(item => reasonsIn(item, depth + 1));
  if (!isRecord(value)) return [];
  const own = value["finish_reason"] ?? value["finishReason"];
  if (typeof own === "string" && own !== "") return [own];
  for (const key of containers) {
    const inner = reasonsIn(value[key], depth + 1);
    if (inner.length > 0) return inner;
  }
  return [];
}

/** Fields that hold the answer of a model, not what it said. */
const containers = [
  "choices",
  "generations",
  "messages",
  "candidates",
  "replies",
  "meta",
  "message",
  "generation_info",
  "response_metadata",
  "kwargs",
  "outputs",
  "output",
  "value",
];
