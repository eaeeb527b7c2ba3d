// The turns of a manual run: joined into one conversation to evaluate, or looked at one by one.

import { sumOf } from "../model/redaction.ts";
import type { Result, SemanticActual } from "../model/run/run.ts";
import { type Assertion, matchOf } from "../model/test-case/assertion.ts";
import type { Derived, FoundText, MergedTrace, TokenSpans, Turn } from "../model/trace/trace.ts";
import type { Context } from "./check-context.ts";
import type { Finding } from "./finding.ts";

/**
 * One conversation from the traces of several turns, in their order: spans and tool calls of all; input, reply and HTTP
 * status of the last; tokens and durations summed. Spans of different turns may have the same id, so each id is
 * prefixed with its turn; `placedInTurns` removes the prefix from results.
 */
export function joinTurns(given: Turn[]): Turn {
  const turns = given.map((turn, at) => numbered(turn, `${at + 1}:`));
  const last = turns.at(-1)!;
  const all = turns.map(({ derived }) => derived);
  const redactions = sumOf(turns.map(turn => turn.trace.redactions));
  const content = turns.find(turn => turn.trace.content)?.trace.content;
  const trace: MergedTrace = {
    ...last.trace,
    path: turns.some(turn => turn.trace.path === "otlp") ? "otlp" : "canonical",
    spans: turns.flatMap(turn => turn.trace.spans),
    turns,
    ...(redactions && { redactions }),
    ...(content && { content }),
    ...(last.trace.received && {
      received: {
        time: turns.every(turn => turn.trace.received?.time),
        ...(last.trace.received.reply && { reply: true as const }),
        ...(last.trace.received.failed && { failed: true as const }),
      },
    }),
  };
  const derived: Derived = {
    ...last.derived,
    name: all[0]!.name,
    startTimeUnixNano: all[0]!.startTimeUnixNano,
    // A sum that leaves a turn out would let a conversation pass that took too long.
    durationMs: all.some(({ durationMs }) => durationMs === null)
      ? null
      : sum(all.map(one => one.durationMs)),
    tokens: {
      input: sum(all.map(({ tokens }) => tokens.input)),
      output: sum(all.map(({ tokens }) => tokens.output)),
      reasoning: sum(all.map(({ tokens }) => tokens.reasoning)),
      cached: sum(all.map(({ tokens }) => tokens.cached)),
      total: sum(all.map(({ tokens }) => tokens.total)),
    },
    failed: all.some(({ failed }) => failed),
    spanCount: trace.spans.length,
    toolCalls: all.flatMap(({ toolCalls }) => toolCalls),
    modelCalls: all.flatMap(({ modelCalls }) => modelCalls),
    tokenSpans: joined(all.map(({ tokenSpans }) => tokenSpans)),
    unmeasured: joined(all.map(({ unmeasured }) => unmeasured)),
    notices: [...new Set(all.flatMap(({ notices }) => notices))],
    otherConvention: all.find(({ otherConvention }) => otherConvention)?.otherConvention ?? null,
  };
  return { trace, derived };
}

/** The result of evaluating joined turns, with its evidence by the spans' own ids and their turns. */
export function placedInTurns(result: Result): Result {
  return {
    ...result,
    checks: result.checks.map(check => ({
      ...check,
      evidence: check.evidence.map(placed),
      ...(check.type === "semantic" ? { actual: actualInTurns(check.actual) } : {}),
    })),
  };
}

/** What an assertion looks at: the conversation, or the turn that it names; a finding where there is no such turn. */
export function contextOf(
  turn: Assertion["turn"],
  context: Context,
): Context | Exclude<Finding, { kind: "open" }> {
  const { turns } = context.view;
  if (turn === undefined || (turns === null && (typeof turn === "string" || turn === 1))) return context;
  const wanted = typeof turn === "string" ? context.test.turns.length : turn;
  const view = turns?.[wanted - 1];
  if (view) return { ...context, view };
  const seen = { expected: { turn }, actual: { turns: turns?.length ?? 1 }, evidence: [] };
  return turns
    ? {
        kind: "absent",
        outcome: "failed",
        reason: { code: "turn_not_reached", data: { turn: wanted, turns: turns.length } },
        ...seen,
      }
    : {
        kind: "absent",
        outcome: "missing_instrumentation",
        reason: { code: "turn_not_in_trace", data: { turn: wanted } },
        ...seen,
      };
}

/**
 * The finding of an assertion that looks at each turn: it has to pass in all of them, so one in which it fails decides. A turn
 * to which it does not apply is left out.
 */
export function findingOfEach(findings: Finding[], negate: boolean): Finding {
  const failed = findings.find(isFailed(negate));
  if (failed) return failed;
  const open = findings.filter(finding => finding.kind === "open");
  if (open.length > 0) {
    return {
      kind: "open",
      semantic: open.flatMap(({ semantic }) => semantic),
      sandbox: open.flatMap(({ sandbox }) => sandbox),
    };
  }
  const doesApply = findings.filter(
    finding => finding.kind !== "skipped" || finding.skipped !== "does_not_apply",
  );
  return (
    doesApply.find(({ kind }) => kind === "absent") ??
    doesApply.find(({ kind }) => kind === "skipped") ??
    doesApply.at(-1) ??
    findings.at(-1)!
  );
}

function isFailed(negate: boolean) {
  return (finding: Finding): boolean =>
    (finding.kind === "compared" && finding.holds === negate) ||
    (finding.kind === "absent" && finding.outcome === "failed");
}

/** The finding; missing instrumentation where a trace that the agent did not send could have changed it. */
export function unlessUnseen(assertion: Assertion, { view }: Context, finding: Finding): Finding {
  if (!view.isObserved || (finding.kind !== "compared" && finding.kind !== "absent")) return finding;
  if (!dependsOnUnseen(assertion, finding.kind === "compared" ? finding.holds : null)) return finding;
  const { expected, actual, evidence } = finding;
  const reason = { code: "no_agent_trace" } as const;
  return { kind: "absent", outcome: "missing_instrumentation", reason, expected, actual, evidence };
}

/** `holds`: null where nothing was compared. */
function dependsOnUnseen(assertion: Assertion, holds: boolean | null): boolean {
  switch (assertion.type) {
    case "tool_call":
    case "node_call":
      return !holds || assertion.max !== undefined;
    case "token_limit":
      return holds === true;
    default:
      // A span of that name may not have been sent: one is enough for the check, or one is enough against it.
      return (
        "target_node" in assertion &&
        assertion.target_node !== undefined &&
        holds !== (matchOf(assertion) === "any")
      );
  }
}

function numbered({ trace, derived }: Turn, prefix: string): Turn {
  const id = (own: string) => `${prefix}${own}`;
  const idOrNull = (own: string | null) => (own === null ? null : id(own));
  const at = <T extends { spanId: string }>(found: T): T => ({ ...found, spanId: id(found.spanId) });
  const text = (found: FoundText | null) => found && at(found);
  return {
    trace: {
      ...trace,
      spans: trace.spans.map(span => ({
        ...span,
        span_id: id(span.span_id),
        parent_span_id: idOrNull(span.parent_span_id),
      })),
    },
    derived: {
      ...derived,
      rootSpanId: idOrNull(derived.rootSpanId),
      tokenSpans: mapped(derived.tokenSpans, id),
      unmeasured: mapped(derived.unmeasured, id),
      httpStatus: derived.httpStatus && at(derived.httpStatus),
      userInput: text(derived.userInput),
      responseText: text(derived.responseText),
      judgedText: text(derived.judgedText),
      toolCalls: derived.toolCalls.map(call => ({
        ...at(call),
        parentSpanId: idOrNull(call.parentSpanId),
      })),
    },
  };
}

function joined(all: TokenSpans[]): TokenSpans {
  const of = (kind: keyof TokenSpans) => all.flatMap(one => one[kind]);
  return { input: of("input"), output: of("output"), reasoning: of("reasoning") };
}

function mapped({ input, output, reasoning }: TokenSpans, id: (own: string) => string): TokenSpans {
  return { input: input.map(id), output: output.map(id), reasoning: reasoning.map(id) };
}

function placed<P extends { spanId: string; turn?: number }>(place: P): P {
  const colon = place.spanId.indexOf(":");
  return { ...place, spanId: place.spanId.slice(colon + 1), turn: Number(place.spanId.slice(0, colon)) };
}

/** With the places of the judge's quotations. */
function actualInTurns(actual: unknown): unknown {
  if (typeof actual !== "object" || actual === null) return actual;
  const { criteria, material } = actual as Partial<SemanticActual>;
  return {
    ...actual,
    ...(criteria && { criteria: criteria.map(withQuotesInTurns) }),
    ...(material?.suspicious && {
      material: { ...material, suspicious: placed(material.suspicious) },
    }),
  };
}

function withQuotesInTurns(criterion: SemanticActual["criteria"][number]): typeof criterion {
  const { quotes } = criterion;
  if (!quotes) return criterion;
  const inTurns = quotes.map(quote =>
    quote.spanId === null ? quote : placed({ ...quote, spanId: quote.spanId }),
  );
  return { ...criterion, quotes: inTurns };
}

/** Null where nothing is known. */
function sum(values: (number | null)[]): number | null {
  const known = values.filter(value => value !== null);
  return known.length === 0 ? null : known.reduce((total, value) => total + value, 0);
}
