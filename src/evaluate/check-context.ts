// What one check is given, and how it names its questions.

import type { AssertionOf, AssertionType } from "../model/test-case/assertion.ts";
import type { TestCase } from "../model/test-case/document.ts";
import type { Answers, Finding } from "./finding.ts";
import type { TraceView } from "./trace-view.ts";

export type Context = { view: TraceView; test: TestCase; answers: Answers };

/** Checks one assertion against the trace and the answers. Pure, and never throws on trace data. */
export type CheckOf<T extends AssertionType> = (assertion: AssertionOf<T>, context: Context) => Finding;

/** The key of the question that an assertion asks about one span's value. */
export function questionKey(test: TestCase, assertionId: string, spanId: string): string {
  return JSON.stringify([test.id, assertionId, spanId]);
}
