// The button that tries a judge, and what came of it: each way that was tried, and what may mend a fault.

import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { JudgeTrial } from "../../../src/http/judge/schemas.ts";
import type { Answer } from "../../api.ts";
import { durationText } from "../../format.ts";
import { testProjectJudge } from "../../mutations/judge.ts";
import { projectJudgeQuery } from "../../queries/project-judge.ts";
import { Button } from "../../ui/Button.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { FailureNotice, Notice } from "../../ui/Notice.tsx";
import { mending, modes } from "./providers.ts";

export type Trial = {
  busy: boolean;
  answer: Answer<JudgeTrial> | undefined;
  run: (connection?: unknown) => Promise<Answer<JudgeTrial>>;
  clear: () => void;
};

/** `run` tries the connection given, as it is typed, else the one that is in force. */
export function useTrial(projectId: string): Trial {
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
      const answered = await testProjectJudge(projectId, connection);
      setAnswer(answered);
      setBusy(false);
      // A test lifts a pause, or says why there is one.
      await queries.invalidateQueries({ queryKey: projectJudgeQuery(projectId).queryKey });
      return answered;
    },
  };
}

/** For the judge that is in force. */
export function TrialButton({ projectId }: { projectId: string }) {
  const trial = useTrial(projectId);
  return (
    <>
      <div className="line">
        <Button busy={trial.busy} onClick={() => void trial.run()}>
          Test connection
        </Button>
        <TrialCost />
      </div>
      <TrialResult projectId={projectId} trial={trial} />
    </>
  );
}

export function TrialCost() {
  return <span className="quiet small">Two short questions; some thousand tokens at most.</span>;
}

export function TrialResult({ projectId, trial: { busy, answer } }: { projectId: string; trial: Trial }) {
  return (
    <>
      <div role="status">
        {busy && <p className="quiet">Waiting for its answer; a model may have to be loaded first…</p>}
        {answer?.ok && <Told projectId={projectId} trial={answer.value} />}
      </div>
      {answer && !answer.ok && <FailureNotice failure={answer.failure} />}
    </>
  );
}

function Told({ projectId, trial }: { projectId: string; trial: JudgeTrial }) {
  const { ok, ms, reason, fault, tried } = trial;
  return (
    <Notice tone={ok ? "good" : "warn"}>
      <p>
        <strong>{reason}</strong>
        {ms > 0 && <span className="quiet"> After {durationText(ms)}.</span>}
      </p>
      {fault && <p>{mending[fault]}</p>}
      {(ok || tried.length > 1) && (
        <ul className="judge-tried" aria-label="Ways of asking that were tried">
          {tried.map(({ mode, ok: works, reason: why }) => (
            <li key={mode}>
              <Icon name={works ? "check" : "cross"} />
              <span>
                <b>{modes[mode]}</b>: {works ? "works." : why}
              </span>
            </li>
          ))}
        </ul>
      )}
      {fault === null && (
        <p className="small">
          <Link to="/projects/$projectId/settings/prices" params={{ projectId }}>
            See what it costs
          </Link>
        </p>
      )}
    </Notice>
  );
}
