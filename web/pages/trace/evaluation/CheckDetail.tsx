// Details of a check by its type: a table of arguments, a bar, a passage, a list of errors.
import type { ReactNode } from "react";
import type { Check, Result } from "../../../../src/model/run/run.ts";
import type { AssertionOf, AssertionType } from "../../../../src/model/test-case/assertion.ts";
import { isRecord } from "../../../record.ts";
import { TraceText } from "../../../ui/TraceText.tsx";
import { ArgumentDiffs } from "./ArgumentDiff.tsx";
import { searchedOf, validatedOf } from "./actual.ts";
import { Meter } from "./Meter.tsx";
import { nearNames } from "./near.ts";
import { tokenLimits } from "./rule-text.ts";
import { SemanticDetail } from "./SemanticDetail.tsx";
import { Facts, Long, Names, Value } from "./Value.tsx";

type DetailOf<T extends AssertionType> = (props: {
  check: Check;
  assertion: AssertionOf<T>;
  result: Result;
}) => ReactNode;

/** What the sentences of the rule and of what was found leave out, for every outcome. */
export const details: { [T in AssertionType]: DetailOf<T> } = {
  node_call: NodeCall,
  tool_call: ToolCall,
  token_limit: TokenLimit,
  http_status: () => null,
  response_time: ({ check: { actual, outcome }, assertion: { max_ms } }) =>
    typeof actual === "number" && <Meter value={actual} limit={max_ms} good={outcome === "passed"} />,
  response_regex: ResponseRegex,
  semantic: SemanticDetail,
  json_match: ({ check }) => <Searched check={check} />,
  json_schema: JsonSchema,
};

type Counted = { searched?: string[]; called?: string[] };

/** The chips of the evidence list all steps. */
function NodeCall({ check, assertion }: Parameters<DetailOf<"node_call">>[0]) {
  const { searched = [] } = fieldsOf<Counted>(check.actual);
  return <Similar wanted={assertion.expected_name} names={searched} />;
}

function ToolCall({ check, assertion }: Parameters<DetailOf<"tool_call">>[0]) {
  const { expected_name, expected_arguments, negate } = assertion;
  const { called = [] } = fieldsOf<Counted>(check.actual);
  if (called.includes(expected_name)) {
    return (
      expected_arguments !== undefined &&
      !check.forgotten && <ArgumentDiffs expected={expected_arguments} check={check} negated={negate} />
    );
  }
  return (
    <>
      <Similar wanted={expected_name} names={called} />
      <Facts facts={[["Tools called", called.length > 0 && <Names key="called" names={called} />]]} />
    </>
  );
}

/** The names that were probably meant. */
function Similar({ wanted, names }: { wanted: string; names: string[] }) {
  const near = nearNames(wanted, names);
  return <Facts facts={[["Similar names", near.length > 0 && <Names key="near" names={near} />]]} />;
}

function TokenLimit({ check, assertion }: Parameters<DetailOf<"token_limit">>[0]) {
  const used = fieldsOf<Record<string, number | null>>(check.actual);
  return tokenLimits.map(([limit, kind]) => {
    const max = assertion[limit];
    const value = used[kind];
    if (max === undefined || typeof value !== "number") return null;
    return <Meter key={kind} value={value} limit={max} good={value <= max !== assertion.negate} />;
  });
}

function ResponseRegex({ check }: Parameters<DetailOf<"response_regex">>[0]) {
  const { actual, match } = check;
  return (
    <>
      {match ? (
        <blockquote className="passage">
          <TraceText text={match.before} />
          <mark>
            <TraceText text={match.text || "(empty)"} />
          </mark>
          <TraceText text={match.after} />
        </blockquote>
      ) : (
        typeof actual === "string" && (
          <blockquote className="passage">
            <Long text={actual} />
          </blockquote>
        )
      )}
      <Searched check={check} />
    </>
  );
}

function JsonSchema({ check, assertion: { schema, negate } }: Parameters<DetailOf<"json_schema">>[0]) {
  const { value, faults } = validatedOf(check, negate);
  return (
    <>
      {faults.length > 0 && (
        <ul className="faults" aria-label="Errors">
          {faults.map(fault => (
            <Fault key={fault} fault={fault} />
          ))}
        </ul>
      )}
      <Facts
        facts={[
          ["Value", value !== null && !searchedOf(check) && <Value value={value} />],
          ["Schema", <Value key="schema" value={schema} />],
        ]}
      />
      <Searched check={check} />
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
function Searched({ check }: { check: Check }) {
  const searched = searchedOf(check);
  return searched && <Facts facts={[["Spans searched", <Names key="searched" names={searched} />]]} />;
}

function fieldsOf<T extends object>(value: unknown): Partial<T> {
  return isRecord(value) ? (value as T) : {};
}
