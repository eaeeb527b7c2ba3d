// The traffic that no test looked at, by reason.
import { Link } from "@tanstack/react-router";
import { outcomes, runStates } from "../../labels.ts";
import { type ListName, numbersOf, tracesOf } from "./lists.ts";
import { CountLink, Section, type SectionProps } from "./parts.tsx";
import { countText, notEvaluatedReason } from "./words.ts";

export function NotChecked({ overview, params }: SectionProps) {
  const lists = tracesOf(overview);
  const numbers = numbersOf(overview);
  const all: { name: ListName; label: string; about: string }[] = [
    { name: "notEvaluated", label: runStates.none.text, about: notEvaluatedReason(overview) },
    { name: "noVerdict", label: "No test applied", about: "Evaluated, but no test ran." },
    { name: "skipped", label: outcomes.skipped.text, about: "Every test or check was skipped." },
    { name: "error", label: runStates.error.text, about: "The evaluation did not finish." },
  ];
  const rows = all.filter(({ name }) => numbers[name].count > 0);
  const needsTest = overview.eligibleTests === 0 || numbers.skipped.count + numbers.noVerdict.count > 0;
  return (
    <Section title="Not checked by any test">
      {rows.length === 0 ? (
        <p className="quiet">
          {overview.traffic.now.traces.count === 0 ? "No traffic." : "Tests checked all evaluated traces."}
        </p>
      ) : (
        <ul className="overview-list">
          {rows.map(({ name, label, about }) => (
            <li key={name}>
              <div className="overview-row">
                <span>
                  {label} <span className="quiet small">{about}</span>
                </span>
                <span className="overview-number">
                  <CountLink params={params} search={lists[name]}>
                    {countText(numbers[name])}
                    <span className="unseen"> {label.toLowerCase()}</span>
                  </CountLink>
                </span>
              </div>
            </li>
          ))}
        </ul>
      )}
      {rows.length > 0 && needsTest && (
        <Link
          className="small"
          to="/projects/$projectId/agents/$agentId/tests/$testId"
          params={{ ...params, testId: "new" }}
        >
          Create test case
        </Link>
      )}
    </Section>
  );
}
