// Counts the values that the JSON in a trace's texts may hold, before anything is parsed.
import { isRecord } from "../../model/record.ts";
import type { Attributes, Span } from "../../model/trace/trace.ts";

/** Of texts this short in total, the values need not be counted: there is at most one for two characters. */
const uncountedMax = 200_000;

/** At least as many values as parsing the texts gives, JSON within JSON included. */
export function valuesIn(spans: Span[]): number {
  const length = sumOver(spans, lengthOf);
  return length <= uncountedMax ? length / 2 : sumOver(spans, countIn);
}

/** The same for some texts, which may be JSON. */
export function valuesInTexts(texts: string[]): number {
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  return length <= uncountedMax ? length / 2 : texts.reduce((sum, text) => sum + countIn(text), 0);
}

type Measure = (text: string) => number;

function sumOver(spans: Span[], measure: Measure): number {
  let sum = 0;
  for (const span of spans) {
    sum += sumOf(span.attributes, measure);
    for (const event of span.events) {
      if (isRecord(event) && isRecord(event["attributes"])) sum += sumOf(event["attributes"], measure);
    }
    if (!span.log_records) continue;
    for (const { attributes, body } of span.log_records) {
      sum += sumOf(attributes, measure) + sumOf(isRecord(body) ? body : { body }, measure);
    }
  }
  return sum;
}

function sumOf(attributes: Attributes, measure: Measure): number {
  let sum = 0;
  for (const key in attributes) {
    const text = attributes[key];
    if (typeof text === "string" && mayBeJson(text)) sum += measure(text);
  }
  return sum;
}

const lengthOf: Measure = text => text.length;

/** Whether its first character, or one after blanks, may begin JSON. */
export function mayBeJson(text: string): boolean {
  const char = text.charCodeAt(0);
  return char <= 32 || char === quote || char === bracket || char === brace;
}

function countIn(text: string): number {
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === comma || char === bracket || char === brace) values++;
  }
  return values;
}

const [quote, comma, bracket, brace] = [34, 44, 91, 123];
