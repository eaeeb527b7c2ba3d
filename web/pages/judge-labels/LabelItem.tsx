// One label in a list: a link to what was judged, what the judge said and should have said.
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { LabelTrial, ListedLabel } from "../../../src/http/judge/label-schemas.ts";
import { TraceText } from "../../ui/TraceText.tsx";
import { answerTexts, hidesFault } from "./agreement.ts";

type LabelItemProps = {
  label: ListedLabel | LabelTrial["items"][number];
  projectId: string;
  /** Beside the link. */
  aside?: ReactNode;
  /** Below what the judge said. */
  children?: ReactNode;
};

export function LabelItem({ label, projectId, aside, children }: LabelItemProps) {
  const { agentId, traceId, runId, testId, checkId, testName, userInput, judged, answer } = label;
  const now = "now" in label ? label.now : null;
  return (
    <li className="stack-tight">
      <div className="line line-apart">
        <Link
          to="/projects/$projectId/agents/$agentId/traces/$traceId"
          params={{ projectId, agentId, traceId }}
          search={{ run: runId, test: testId, ...(checkId !== null && { check: checkId }) }}
        >
          <bdi>{userInput === null ? "Trace without user input" : <TraceText text={userInput} />}</bdi>
        </Link>
        {aside}
      </div>
      <p>
        <bdi>{testName}</bdi>
        {checkId === null ? ", scenario" : <>, check “{checkId}”</>}: the judge said{" "}
        <strong>{answerTexts[judged]}</strong>
        {now && (
          <>
            , now <strong>{answerTexts[now]}</strong>
          </>
        )}
        , should be <strong>{answerTexts[answer]}</strong>
        {!now && judged !== answer && hidesFault(judged) && <span className="quiet"> (hides a fault)</span>}
      </p>
      {children}
    </li>
  );
}
