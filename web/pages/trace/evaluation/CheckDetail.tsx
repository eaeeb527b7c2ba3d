// Details of a check by its type: a comparison, a bar, a passage, a list of errors.
import type { ReactNode } from "react";
import type { Check, Result } from "../../../../src/model/run/run.ts";
import type { AssertionOf, AssertionType } from "../../../../src/model/test-case/assertion.ts";
import { durationText } from "../../../format.ts";
import { isRecord } from "../../../record.ts";
import { ArgumentDiffs } from "./ArgumentDiff.tsx";
import { Meter } from "./Meter.tsx";
import { nearNames } from "./near.ts";
import { SemanticDetail } from "./SemanticDetail.tsx";
import { Facts, Long, Names, Value } from "./Value.tsx";
import { number, timesText } from "./words.ts";

type DetailOf<T extends AssertionType> = (props: {
  check: Check;
  assertion: AssertionOf<T>;
  result: Result;
}) => ReactNode;

/** For every outcome; how much there is to show depends on how far the check got. */
export const details: { [T in AssertionType]: DetailOf<T> } = {
  node_call: NodeCall,
  tool_call: ToolCall,
  token_limit: TokenLimit,
  http_status: ({ check: { actual }, assertion: { expected_status: expected } }) => (
    <Facts
      facts={[
        ["Expected", <code key="expected">{[expected].flat().join(", ")}</code>],
        ["Actual", <code key="actual">{String(actual)}</code>],
      ]}
    />
  ),
  response_time: ({ check: { actual }, assertion: { max_ms, negate } }) =>
    typeof actual === "number" && (
      <LimitMeter name="Duration" value={actual} limit={max_ms} negate={negate} unit="ms" />
    ),
  response_regex: ResponseRegex,
  semantic: SemanticDetail,
  json_match: ({ check: { actual, outcome, evidence }, assertion: { expected_value } }) => (
    <>
      <Compared expected={expected_value} actual={searchedOf(actual) ? undefined : actual} />
      {evidence.length > 1 &&
        outcome === "failed" &&
        evidence.every(place => place.attribute !== null && "value" in place) && (
          <p className="quiet small">The first of {evidence.length} values; none of them matches.</p>
        )}
      <Searched actual={actual} />
    </>
  ),
  json_schema: JsonSchema,
};

function Compared({ expected, actual }: { expected: unknown; actual: unknown }) {
  return (
    <Facts
      facts={[
        ["Expected", <Value key="expected" value={expected} />],
        ["Actual", <Value key="actual" value={actual ?? undefined} />],
      ]}
    />
  );
}

type Counted = { count?: number | null; names?: string[]; searched?: string[]; called?: string[] };

function NodeCall({ check, assertion }: Parameters<DetailOf<"node_call">>[0]) {
  const { count = 0, names = [], searched = [] } = fieldsOf<Counted>(check.actual);
  return (
    <Facts
      facts={[
        ["Counted", countText(count, assertion)],
        ["Steps", names.length > 0 && <Names names={names} />],
        ...(names.length > 0 ? [] : namesSearched(assertion.expected_name, searched, "Steps searched")),
      ]}
    />
  );
}

function ToolCall({ check, assertion }: Parameters<DetailOf<"tool_call">>[0]) {
  const { expected_name, expected_arguments } = assertion;
  const { count = null, called = [] } = fieldsOf<Counted>(check.actual);
  const isCalled = called.includes(expected_name);
  return (
    <>
      <Facts
        facts={[
          ["Counted", countText(count, assertion)],
          ...(isCalled ? [] : namesSearched(expected_name, called, "Tools called")),
        ]}
      />
      {expected_arguments !== undefined && isCalled && (
        <ArgumentDiffs expected={expected_arguments} check={check} negated={assertion.negate} />
      )}
    </>
  );
}

function countText(count: number | null, assertion: AssertionOf<"node_call" | "tool_call">): string | null {
  return count === null
    ? null
    : `${number.format(count)}, expected ${timesText(assertion, assertion.negate)}`;
}

/** The names that are there instead, and those that were probably meant. */
function namesSearched(wanted: string, names: string[], label: string): [string, ReactNode][] {
  const near = nearNames(wanted, names);
  return [
    ["Similar names", near.length > 0 && <Names key="near" names={near} />],
    [label, names.length > 0 ? <Names key="names" names={names} /> : <span className="quiet">none</span>],
  ];
}

const limits = [
  ["max_total", "total", "Tokens in total"],
  ["max_input", "input", "Input tokens"],
  ["max_output", "output", "Output tokens"],
  ["max_reasoning", "reasoning", "Reasoning tokens"],
] as const;

function TokenLimit({ check, assertion }: Parameters<DetailOf<"token_limit">>[0]) {
  const used = fieldsOf<Record<string, number | null>>(check.actual);
  return limits.map(([limit, kind, name]) => {
    const max = assertion[limit];
    const value = used[kind];
    if (max === undefined || typeof value !== "number") return null;
    return <LimitMeter key={kind} name={name} value={value} limit={max} negate={assertion.negate} />;
  });
}

type LimitMeterProps = { name: string; value: number; limit: number; negate: boolean; unit?: "ms" };

function LimitMeter({ name, value, limit, negate, unit }: LimitMeterProps) {
  const show = (amount: number) => (unit ? durationText(amount) : number.format(amount));
  const isWithin = value <= limit;
  const share = limit > 0 ? ` · ${number.format(Math.round((value / limit) * 100))}% of the limit` : "";
  return (
    <Meter
      name={name}
      value={value}
      limit={limit}
      good={isWithin !== negate}
      word={isWithin ? "Within the limit" : `Over by ${show(value - limit)}`}
      text={`${show(value)}, limit ${show(limit)}${share}`}
    />
  );
}

function ResponseRegex({ check: { actual, match } }: Parameters<DetailOf<"response_regex">>[0]) {
  return (
    <>
      {match ? (
        <blockquote className="passage">
          {match.before}
          <mark>{match.text || "(empty)"}</mark>
          {match.after}
        </blockquote>
      ) : (
        typeof actual === "string" && (
          <blockquote className="passage">
            <Long text={actual} />
          </blockquote>
        )
      )}
      <Searched actual={actual} />
    </>
  );
}

function JsonSchema({ check: { actual }, assertion: { schema } }: Parameters<DetailOf<"json_schema">>[0]) {
  const { faults } = fieldsOf<{ faults?: string[]; value?: unknown }>(actual);
  const value = Array.isArray(faults) ? fieldsOf<{ value?: unknown }>(actual).value : actual;
  return (
    <>
      {faults && (
        <ul className="faults" aria-label="Errors">
          {faults.map(fault => (
            <Fault key={fault} fault={fault} />
          ))}
        </ul>
      )}
      <Facts
        facts={[
          ["Actual", value !== null && !searchedOf(actual) && <Value value={value} />],
          ["Schema", <Value key="schema" value={schema} />],
        ]}
      />
      <Searched actual={actual} />
    </>
  );
}

/** "address/city: not a string", the path as code. */
function Fault({ fault }: { fault: string }) {
  const end = fault.indexOf(": ");
  if (end < 0) return <li>{fault}</li>;
  return (
    <li>
      <code>{fault.slice(0, end)}</code>: {fault.slice(end + 2)}
    </li>
  );
}

/** The names of all spans, if none matched. */
function Searched({ actual }: { actual: unknown }) {
  const searched = searchedOf(actual);
  return searched && <Facts facts={[["Spans searched", <Names key="searched" names={searched} />]]} />;
}

function searchedOf(actual: unknown): string[] | null {
  const { searched } = fieldsOf<{ searched?: string[] }>(actual);
  return Array.isArray(searched) ? searched : null;
}

function fieldsOf<T extends object>(value: unknown): Partial<T> {
  return isRecord(value) ? (value as T) : {};
}
