// Labels that the judge does not agree with: first those that hide a fault, then those that raise a false alarm.
import { Link } from "@tanstack/react-router";
import type { ListedLabel } from "../../../src/http/judge/label-schemas.ts";
import type { JudgedAnswer } from "../../../src/model/judge/label.ts";
import { RelativeTime } from "../../ui/Time.tsx";
import { answerTexts, judgeText } from "./agreement.ts";

/** A wrong answer of these hides a fault: the check passed, or the test did not run. */
const hiding: JudgedAnswer[] = ["pass", "no_match"];

export function Disagreements({ labels, projectId }: { labels: ListedLabel[]; projectId: string }) {
  const isHiding = ({ judged }: ListedLabel) => hiding.includes(judged);
  const sorted = [...labels.filter(isHiding), ...labels.filter(label => !isHiding(label))];
  return (
    <ul className="labels-list" aria-label="Answers that people call wrong">
      {sorted.map(label => (
        <li key={label.id} className="stack-tight">
          <div className="line line-apart">
            <Link
              to="/projects/$projectId/agents/$agentId/traces/$traceId"
              params={{ projectId, agentId: label.agentId, traceId: label.traceId }}
              search={{
                run: label.runId,
                test: label.testId,
                ...(label.checkId !== null && { check: label.checkId }),
              }}
            >
              <bdi>{label.userInput ?? "Trace without user input"}</bdi>
            </Link>
            <span className="quiet small">
              <RelativeTime at={label.updatedAt} />
            </span>
          </div>
          <p>
            <bdi>{label.testName}</bdi>
            {label.checkId === null ? ", scenario" : <>, check “{label.checkId}”</>}: the judge said{" "}
            <strong>{answerTexts[label.judged]}</strong>, should be{" "}
            <strong>{answerTexts[label.answer]}</strong>
            {isHiding(label) && <span className="quiet"> (hides a fault)</span>}
          </p>
          {label.note !== "" && <p className="labels-note">{label.note}</p>}
          <p className="quiet small">
            {judgeText(label)}
            {label.testVersion !== null && `, test version ${label.testVersion}`}
          </p>
        </li>
      ))}
    </ul>
  );
}
