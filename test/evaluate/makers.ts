// Makers of spans, traces and tests for the evaluation's own tests.

import assert from "node:assert/strict";
import { evaluateTest } from "../../src/evaluate/evaluate.ts";
import type { Answers } from "../../src/evaluate/finding.ts";
import { noAnswers } from "../../src/evaluate/questions.ts";
import type { SemanticAnswer } from "../../src/model/judge/judge.ts";
import type { Reason } from "../../src/model/run/reason.ts";
import { reasonText } from "../../src/model/run/reason-text.ts";
import type { Check, Result } from "../../src/model/run/run.ts";
import type { TestCase } from "../../src/model/test-case/document.ts";
import { parseTestCase } from "../../src/model/test-case/test-case.ts";
import type { MergedTrace, Span } from "../../src/model/trace/trace.ts";
import { derive } from "../../src/reading/derived/derive.ts";

let made = 0;

export function span(fields: Partial<Span> = {}): Span {
  made += 1;
  return {
    span_id: `s${made}`,
    parent_span_id: "root",
    name: "step",
    attributes: {},
    start_time_unix_nano: null,
    end_time_unix_nano: null,
    status: null,
    events: [],
    ...fields,
  };
}

export function root(attributes: Span["attributes"] = {}, fields: Partial<Span> = {}): Span {
  return span({ span_id: "root", parent_span_id: null, name: "conversation", attributes, ...fields });
}

export function tool(name: string, args?: unknown): Span {
  const call = args === undefined ? {} : { "gen_ai.tool.call.arguments": args };
  return span({ name: `call ${name}`, attributes: { "gen_ai.tool.name": name, ...call } });
}

export function traceOf(...spans: Span[]): MergedTrace {
  return { spans, resource: null, metadata: null, path: "canonical" };
}

/** An active, always-run, single-turn test unless the fields say otherwise. */
export function testCase(fields: Record<string, unknown> = {}): TestCase {
  const document = parseTestCase({
    name: "a test",
    passiveBehavior: "always_run",
    scenario: "somebody asks for a refund",
    turns: [{ input: "hello" }],
    assertions: [{ type: "node_call", expected_name: "step" }],
    ...fields,
  });
  made += 1;
  return { ...document, id: `t${made}`, agentId: "agent", version: 7 };
}

/** What one assertion comes to on these spans. */
export function checkOf(
  assertion: Record<string, unknown>,
  spans: Span[],
  answers: Answers = noAnswers(),
): Check {
  return resultOf([assertion], spans, answers).checks[0]!;
}

export function resultOf(
  assertions: Record<string, unknown>[],
  spans: Span[],
  answers = noAnswers(),
): Result {
  const trace = traceOf(...spans);
  return evaluateTest(trace, derive(trace), testCase({ assertions }), answers);
}

/** The reason's code and data are those that its sentence was made of. */
export function assertRendered({ reason, reasonCode, reasonData }: Check): void {
  assert.equal(reasonText({ code: reasonCode, data: reasonData } as Reason), reason);
}

export function scored(score: number): SemanticAnswer {
  const verdict = { verdict: "met" as const, evidence: "", reason: "The reply says so." };
  const votes = [{ score, verdicts: [verdict] }];
  return {
    code: "ok",
    score,
    votes,
    provider: "openai_compatible",
    model: "local",
    promptVersion: "1",
    cached: false,
  };
}
