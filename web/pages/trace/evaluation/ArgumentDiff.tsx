// Tables that compare the expected and actual arguments of tool calls.
import type { Check } from "../../../../src/model/run/run.ts";
import { isRecord } from "../../../record.ts";
import { Icon } from "../../../ui/Icon.tsx";
import type { IconName } from "../../../ui/icons.ts";
import { type ArgumentState, type ComparedCall, comparedCalls } from "./arguments.ts";
import { useTrace } from "./context.ts";
import { expectationText, isOperators } from "./rule-text.ts";
import { Value } from "./Value.tsx";

const argumentStates: Record<ArgumentState, { text: string; icon: IconName }> = {
  different: { text: "Different", icon: "cross" },
  missing: { text: "Missing", icon: "missing" },
  unexpected: { text: "Not expected", icon: "plus" },
  unrecorded: { text: "Missing", icon: "missing" },
  equal: { text: "Equal", icon: "check" },
};

const neutralTexts: Record<ArgumentState, string> = {
  different: "Does not match",
  missing: "Does not match",
  unexpected: "Does not match",
  unrecorded: "Not compared",
  equal: "Matches",
};

type ArgumentDiffsProps = { expected: unknown; check: Check; negated: boolean };

export function ArgumentDiffs({ expected, check, negated }: ArgumentDiffsProps) {
  const { actual, evidence, outcome } = check;
  const calls = comparedCalls(expected, isRecord(actual) ? actual : null, evidence);
  const isFine = outcome === "passed" && isRecord(actual) && actual["count"] === 0;
  return calls.map(call => (
    <ArgumentDiff key={call.spanId} call={call} negated={negated} isNeutral={negated || isFine} />
  ));
}

/**
 * `negated`: the check fails if all arguments match. `isNeutral`: a match has no check mark and a difference no cross, as in a
 * check that passed because no call matches.
 */
type ArgumentDiffProps = { call: ComparedCall; negated: boolean; isNeutral: boolean };

function ArgumentDiff({ call, negated, isNeutral }: ArgumentDiffProps) {
  const { spanId, lines, complete } = call;
  const { spanNames } = useTrace();
  const expectedTitle = negated ? "Not all of" : "Expected";
  return (
    <table className="diff" data-neutral={isNeutral || undefined}>
      <caption>
        Arguments of <bdi>{spanNames.get(spanId) ?? spanId}</bdi>
        {!complete && ", first 10 differences"}
      </caption>
      <thead>
        <tr>
          <th scope="col">Argument</th>
          <th scope="col">{expectedTitle}</th>
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
            <td data-label={expectedTitle}>
              <Expected line={line} />
            </td>
            <td data-label="Actual">
              <Actual line={line} />
            </td>
            <td>
              <span className="diff-state">
                {isNeutral ? (
                  neutralTexts[line.state]
                ) : (
                  <>
                    <Icon name={argumentStates[line.state].icon} />
                    {argumentStates[line.state].text}
                  </>
                )}
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
  return isOperators(expected) ? expectationText(expected) : <Value value={expected} />;
}

const noActual: Partial<Record<ArgumentState, string>> = {
  missing: "nothing",
  unrecorded: "no arguments recorded",
};

function Actual({ line }: { line: Line }) {
  if ("actual" in line) return <Value value={line.actual} />;
  return <span className="quiet">{noActual[line.state] ?? "matches"}</span>;
}
