// The "Test connection" button of a judge, for projects and for the environment, and its result: each answer format
// tried, and how to fix a failure.
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { JudgeTrial } from "../../../src/http/judge/schemas.ts";
import type { Answer } from "../../api.ts";
import { durationText } from "../../format.ts";
import { testEnvironmentJudge, testProjectJudge } from "../../mutations/judge.ts";
import { projectJudgeQuery } from "../../queries/project-judge.ts";
import "../../styles/judge.css";
import { Button } from "../../ui/Button.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { FailureNotice, Notice } from "../../ui/Notice.tsx";
import { fixes, modes } from "./providers.ts";

export type Trial = {
  busy: boolean;
  answer: Answer<JudgeTrial> | undefined;
  run: (connection?: unknown) => Promise<Answer<JudgeTrial>>;
  clear: () => void;
};

/** `run` tests the given connection, as typed, or else the saved one; without a project, the environment's judge. */
export function useTrial(projectId?: string): Trial {
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [answer, setAnswer] = useState<Answer<JudgeTrial>>();
  return {
    busy,
    answer,
    clear: () => setAnswer(undefined),
    async run(connection) {
      setBusy(true);
      setAnswer(undefined);
      const answered = await (projectId === undefined
        ? testEnvironmentJudge()
        : testProjectJudge(projectId, connection));
      setAnswer(answered);
      setBusy(false);
      // A successful test ends a pause; a failed one updates its reason.
      if (projectId !== undefined)
        await queries.invalidateQueries({ queryKey: projectJudgeQuery(projectId).queryKey });
      return answered;
    },
  };
}

/** Tests the project's saved judge, or else the environment's. */
export function TrialButton({ projectId }: { projectId?: string }) {
  const trial = useTrial(projectId);
  return (
    <>
      <div className="line">
        <Button busy={trial.busy} onClick={() => void trial.run()}>
          Test connection
        </Button>
        <TrialCost />
      </div>
      <TrialResult {...(projectId && { projectId })} trial={trial} />
    </>
  );
}

export function TrialCost() {
  return <span className="quiet small">Sends two short questions and a long one, about 20,000 tokens</span>;
}

type TrialResultProps = { projectId?: string; trial: Trial };

export function TrialResult({ projectId, trial: { busy, answer } }: TrialResultProps) {
  return (
    <>
      <div role="status">
        {busy && <p className="quiet">Waiting for the judge. Loading a model can take a while…</p>}
        {answer?.ok && <TrialReport {...(projectId && { projectId })} trial={answer.value} />}
      </div>
      {answer && !answer.ok && <FailureNotice failure={answer.failure} />}
    </>
  );
}

function TrialReport({ projectId, trial }: { projectId?: string; trial: JudgeTrial }) {
  const { ok, ms, reason, fault, tried } = trial;
  return (
    <Notice tone={ok ? "good" : "warn"}>
      <p>
        <strong>{reason}</strong>
        {ms > 0 && <span className="quiet"> Took {durationText(ms)}.</span>}
      </p>
      {fault && <p>{fixes[fault]}</p>}
      {(ok || tried.length > 1) && (
        <ul className="judge-tried" aria-label="Answer formats tried">
          {tried.map(({ mode, ok: works, reason: why }) => (
            <li key={mode}>
              <Icon name={works ? "check" : "cross"} />
              <span>
                <b>{modes[mode]}</b>: {works ? "works" : why}
              </span>
            </li>
          ))}
        </ul>
      )}
      {fault === null && projectId && (
        <p className="small">
          <Link to="/projects/$projectId/settings/prices" params={{ projectId }}>
            View prices
          </Link>
        </p>
      )}
    </Notice>
  );
}
