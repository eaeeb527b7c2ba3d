// The tabs of a test's results: evaluations by outcome, and test runs.
import { Link } from "@tanstack/react-router";
import { notFullyEvaluated, outcomes } from "../../labels.ts";
import { type ResultFilters, resultOutcomes } from "./results-search.ts";

type OutcomeTabsProps = ResultFilters & { params: { projectId: string; agentId: string; testId: string } };

export function OutcomeTabs({ params, outcome, fullyEvaluated, period, isManual }: OutcomeTabsProps) {
  const isOthers = fullyEvaluated === "false" && outcome === undefined;
  return (
    <nav className="tabs tests-outcomes" aria-label="Results by outcome">
      {[undefined, ...resultOutcomes].map(one => (
        <Link
          key={one ?? "all"}
          to="/projects/$projectId/agents/$agentId/tests/$testId/results"
          params={params}
          search={{ ...period, outcome: one }}
          resetScroll={false}
          className="tab"
          aria-current={one === outcome && !isOthers && !isManual ? "page" : undefined}
          activeOptions={{ exact: true, includeSearch: true }}
        >
          {one ? outcomes[one].text : "All results"}
        </Link>
      ))}
      <Link
        to="/projects/$projectId/agents/$agentId/tests/$testId/results"
        params={params}
        search={{ ...period, fullyEvaluated: "false" }}
        resetScroll={false}
        className="tab"
        aria-current={isOthers && !isManual ? "page" : undefined}
        activeOptions={{ exact: true, includeSearch: true }}
      >
        {notFullyEvaluated.text}
      </Link>
      <Link
        to="/projects/$projectId/agents/$agentId/tests/$testId/results"
        params={params}
        search={{ kind: "manual" }}
        resetScroll={false}
        className="tab"
        aria-current={isManual ? "page" : undefined}
        activeOptions={{ exact: true, includeSearch: true }}
      >
        Test runs
      </Link>
    </nav>
  );
}
