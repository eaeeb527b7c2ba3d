// Tables that compare the expected and actual arguments of tool calls.
import type { Check } from "../../../../src/model/run/run.ts";
import { Icon } from "../../../ui/Icon.tsx";
import { argumentStates, type ComparedCall, comparedCalls } from "./arguments.ts";
import { useTrace } from "./context.ts";
import { expectationText } from "./rule.tsx";
import { Value } from "./Value.tsx";

/** `negated`: the check fails if all arguments match. */
type ArgumentDiffsProps = { expected: unknown; check: Check; negated: boolean };

export function ArgumentDiffs({ expected, check, negated }: ArgumentDiffsProps) {
  const actual = typeof check.actual === "object" ? check.actual : null;
  const calls = comparedCalls(expected, actual, check.evidence);
  return calls.map(call => <ArgumentDiff key={call.spanId} call={call} negated={negated} />);
}

function ArgumentDiff({ call, negated }: { call: ComparedCall; negated: boolean }) {
  const { spanId, lines, complete } = call;
  const { spanNames } = useTrace();
  return (
    <table className="diff" data-negated={negated || undefined}>
      <caption>
        Arguments of <bdi>{spanNames.get(spanId) ?? spanId}</bdi>
        {negated && ", expected to differ"}
        {!complete && ", first 10 differences"}
      </caption>
      <thead>
        <tr>
          <th scope="col">Argument</th>
          <th scope="col">Expected</th>
          <th scope="col">Actual</th>
          <th scope="col">Result</th>
        </tr>
      </thead>
      <tbody>
        {lines.map(line => (
          <tr key={line.path} data-state={line.state}>
            <th scope="row">
              <code>{line.path || "all"}</code>
            </th>
            <td data-label="Expected">
              <Expected line={line} />
            </td>
            <td data-label="Actual">
              <Actual line={line} />
            </td>
            <td>
              <span className="diff-state">
                <Icon name={argumentStates[line.state].icon} />
                {argumentStates[line.state].text}
              </span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

type Line = ComparedCall["lines"][number];

function Expected({ line: { state, expected } }: { line: Line }) {
  if (state === "unexpected") return <span className="quiet">nothing</span>;
  const text = expectationText(expected);
  return text.startsWith("is ") && isLiteral(expected) ? <Value value={expected} /> : text;
}

function Actual({ line }: { line: Line }) {
  if ("actual" in line) return <Value value={line.actual} />;
  return <span className="quiet">{line.state === "missing" ? "nothing" : "matches"}</span>;
}

/** Whether the expectation is a value, not a set of operators such as `{ $gte: 3 }`. */
function isLiteral(expected: unknown): boolean {
  if (typeof expected !== "object" || expected === null || Array.isArray(expected)) return true;
  const names = Object.keys(expected);
  return names.length === 0 || !names.every(name => name.startsWith("$"));
}
