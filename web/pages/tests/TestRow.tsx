// One row of the test case list: checks, passive behavior, last verdict, 30 days, pass rate and a menu.
import { Link } from "@tanstack/react-router";
import type { Ref } from "react";
import type { ListedTest } from "../../../src/http/test-cases/schemas.ts";
import type { Assertion } from "../../../src/model/test-case/assertion.ts";
import { numberText, rateText } from "../../format.ts";
import {
  checkTypes,
  counted,
  eligibilities,
  ineligibilities,
  notFullyEvaluated,
  outcomeWord,
  passiveBehaviors,
  testStates,
} from "../../labels.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Menu, type MenuEntry } from "../../ui/Menu.tsx";
import { OutcomeStrip } from "../../ui/OutcomeStrip.tsx";
import type { Selection } from "../../ui/selection.ts";
import { RelativeTime } from "../../ui/Time.tsx";
import { FailingSince } from "./Failing.tsx";
import { behaviorOf, type Row } from "./rows.ts";

export type TestActions = {
  params: { projectId: string; agentId: string };
  edit: (test: ListedTest) => void;
  results: (test: ListedTest) => void;
  duplicate: (test: ListedTest) => void;
  setStatus: (tests: readonly ListedTest[], status: ListedTest["status"]) => Promise<void>;
  run: (tests: readonly ListedTest[]) => void;
  exportAll: (tests: readonly ListedTest[]) => void;
  remove: (tests: readonly ListedTest[]) => void;
};

type TestRowProps = {
  ref: Ref<HTMLTableRowElement>;
  index: number;
  row: Row;
  selection: Selection;
  actions: TestActions;
};

export function TestRow({ ref, index, row, selection, actions }: TestRowProps) {
  const { test, insights, last, counts, others, rate } = row;
  const { id, name } = test;
  const params = { ...actions.params, testId: id };
  const results = "/projects/$projectId/agents/$agentId/tests/$testId/results";
  return (
    <tr ref={ref} data-index={index} aria-rowindex={index + 2} data-selected={selection.has(id) || undefined}>
      <td className="tests-select">
        <input
          type="checkbox"
          aria-label={`Select ${name}`}
          checked={selection.has(id)}
          onChange={event =>
            selection.choose(id, event.target.checked, (event.nativeEvent as MouseEvent).shiftKey)
          }
        />
      </td>
      <th scope="row">
        <Link to="/projects/$projectId/agents/$agentId/tests/$testId" params={params}>
          {name}
        </Link>
        <span className="tests-under">{checksText(test.assertions)}</span>
        {insights?.failing && <FailingSince failing={insights.failing} />}
      </th>
      <td data-label="Passive behavior" className="tests-behavior">
        <Behavior test={test} />
      </td>
      <td data-label="Last verdict">
        {last ? (
          <span className="tests-cell">
            <Link
              to={results}
              params={params}
              search={last.manual ? { kind: "manual" } : {}}
              className="tests-plain"
            >
              <Badge word={outcomeWord(last.outcome, last.fullyEvaluated)} />
              {last.passRate && (
                <span className="small">
                  {" "}
                  {numberText(last.passRate.passed)} of {numberText(last.passRate.of)} passed
                </span>
              )}
            </Link>
            <span className="tests-under">
              {last.manual && (last.passRate ? "Manual run, " : "Test run, ")}
              <RelativeTime at={last.at} />
            </span>
          </span>
        ) : (
          insights && <span className="quiet">Not evaluated yet</span>
        )}
      </td>
      <td data-label="Last 30 days">
        {insights && <OutcomeStrip days={insights.days} about={`${name}, last 30 days`} />}
      </td>
      <td data-label="Pass rate">
        <span className="tests-cell">
          {rate === null ? (
            insights && <span className="quiet">No passes or failures</span>
          ) : (
            <>
              <span className="tests-rate">{rateText(rate)}</span>
              <span className="tests-under">
                {numberText(counts.passed)} of {numberText(counts.passed + counts.failed)}
              </span>
            </>
          )}
          {others > 0 && (
            <span className="tests-under">
              {numberText(others)} {notFullyEvaluated.text.toLowerCase()}
            </span>
          )}
        </span>
      </td>
      <td className="tests-menu">
        <Menu
          small
          look="plain"
          icon="more"
          aria-label={`Actions for ${name}`}
          entries={entriesOf(test, actions)}
        />
      </td>
    </tr>
  );
}

function Behavior({ test }: { test: ListedTest }) {
  const { eligibility, status } = test;
  const behavior = behaviorOf(test);
  // The sentence below begins with the same words.
  const isInSentence = eligibility === "manual_only" || eligibility === "multi_turn";
  return (
    <span className="tests-cell">
      <span className="line">
        <Badge word={testStates[status]} />
        {!isInSentence && <span>{passiveBehaviors[behavior].text}</span>}
      </span>
      <span className="tests-under">
        {eligibility !== null && ineligibilities[eligibility]}
        {eligibility === null && behavior !== "manual_only" && eligibilities[behavior]}
      </span>
    </span>
  );
}

/** "3 checks: Tool call, 2 × Semantic". */
function checksText(assertions: readonly Assertion[]): string {
  if (assertions.length === 0) return "No checks yet";
  const counts = new Map<string, number>();
  for (const { type } of assertions) {
    const word = checkTypes[type] ?? type;
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const types = [...counts].map(([word, count]) => (count === 1 ? word : `${count} × ${word}`));
  return `${counted(assertions.length, "check")}: ${types.join(", ")}`;
}

function entriesOf(test: ListedTest, actions: TestActions): MenuEntry[] {
  const action = (label: string, onChoose: () => void): MenuEntry => ({ kind: "action", label, onChoose });
  return [
    action("Edit", () => actions.edit(test)),
    action("Results", () => actions.results(test)),
    action("Run now", () => actions.run([test])),
    action("Duplicate", () => actions.duplicate(test)),
    test.status === "active"
      ? action("Disable", () => void actions.setStatus([test], "disabled"))
      : action("Activate", () => void actions.setStatus([test], "active")),
    action("Export as JSON", () => actions.exportAll([test])),
    { kind: "rule" },
    { kind: "action", icon: "trash", label: "Delete…", onChoose: () => actions.remove([test]) },
  ];
}
