// How a scenario was matched: the router's own reason, the scenario, and the input beside it.
import type { Why } from "../../../labels.ts";
import { useTrace } from "./context.ts";
import { Facts, Long } from "./Value.tsx";

type ScenarioProps = { scenario: string | undefined; applicability: { why: Why; reason?: string } };

const scenarioWhys: Why[] = [
  "scenario_matched",
  "scenario_unsure",
  "scenario_no_match",
  "no_user_input",
  "routing_unavailable",
];

export function Scenario({ scenario, applicability: { why, reason } }: ScenarioProps) {
  const { trace } = useTrace();
  const isCompared = scenarioWhys.includes(why);
  return (
    <Facts
      facts={[
        [why === "routing_unavailable" ? "Reason" : "Judge’s reason", reason && <Long text={reason} />],
        ["Scenario", isCompared && scenario && <Long text={scenario} />],
        [
          "User’s input",
          isCompared &&
            (trace.userInput === null ? (
              <span className="quiet">none in the trace</span>
            ) : (
              <Long text={trace.userInput} />
            )),
        ],
      ]}
    />
  );
}
