// The scenario match of a test: the judge’s answer and what it means, the scenario, and the user’s input.
import type { JudgedAnswer } from "../../../../src/model/judge/label.ts";
import type { Applicability } from "../../../../src/model/run/run.ts";
import type { Why } from "../../../labels.ts";
import { useTrace } from "./context.ts";
import { JudgedBy } from "./Flag.tsx";
import { LabelControl } from "./LabelControl.tsx";
import { Facts, Long } from "./Value.tsx";

type ScenarioProps = {
  testId: string;
  name: string;
  scenario: string | undefined;
  applicability: { why: Why } & Pick<Applicability, "reason" | "suspicious" | "model" | "promptVersion">;
};

const answers: Partial<Record<Why, JudgedAnswer>> = {
  scenario_matched: "match",
  scenario_unsure: "unsure",
  scenario_no_match: "no_match",
};

const scenarioWhys: Why[] = [
  "scenario_matched",
  "scenario_unsure",
  "scenario_no_match",
  "no_user_input",
  "routing_unavailable",
  "routing_waiting",
];

export function Scenario({ testId, name, scenario, applicability }: ScenarioProps) {
  const { why, reason, model, promptVersion } = applicability;
  const { trace } = useTrace();
  const judged = answers[why];
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
                <span className="quiet">none in this trace</span>
              ) : (
                <Long text={trace.userInput} />
              )),
          ],
          ["Judge", model && promptVersion && <JudgedBy model={model} promptVersion={promptVersion} />],
        ]}
      />
      {judged && (
        <LabelControl testId={testId} checkId={null} judged={judged} about={`the scenario of “${name}”`} />
      )}
    </>
  );
}

function Unsure({ suspicious }: { suspicious: boolean }) {
  return (
    <p className="quiet">
      {suspicious
        ? "A test is left out only on a clear “no match”. This input seems addressed to the judge, so “no match” was ignored."
        : "A test is left out only on a clear “no match”: running a test in vain does less harm than missing one."}
    </p>
  );
}
