// How a scenario was matched: what the judge said of it and what that means, the scenario, and the input beside it.
import type { Applicability } from "../../../../src/model/run/run.ts";
import type { Why } from "../../../labels.ts";
import { useTrace } from "./context.ts";
import { JudgedBy } from "./Flag.tsx";
import { Facts, Long } from "./Value.tsx";

type ScenarioProps = {
  scenario: string | undefined;
  applicability: { why: Why } & Pick<Applicability, "reason" | "suspicious" | "model" | "promptVersion">;
};

const scenarioWhys: Why[] = [
  "scenario_matched",
  "scenario_unsure",
  "scenario_no_match",
  "no_user_input",
  "routing_unavailable",
  "routing_waiting",
];

export function Scenario({ scenario, applicability }: ScenarioProps) {
  const { why, reason, model, promptVersion } = applicability;
  const { trace } = useTrace();
  const isCompared = scenarioWhys.includes(why);
  return (
    <>
      {why === "scenario_unsure" && <Unsure suspicious={applicability.suspicious !== undefined} />}
      <Facts
        facts={[
          [why.startsWith("routing_") ? "Reason" : "Judge’s reason", reason && <Long text={reason} />],
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
          ["Judge", model && <JudgedBy model={model} promptVersion={promptVersion} />],
        ]}
      />
    </>
  );
}

function Unsure({ suspicious }: { suspicious: boolean }) {
  return (
    <p className="quiet">
      {suspicious
        ? "Only a clear no leaves a test out, and of an input that seems to speak to a judge no such answer is taken."
        : "Only a clear no leaves a test out: a test that runs for nothing does less harm than one that is missed."}
    </p>
  );
}
