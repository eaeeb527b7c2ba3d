// Has what the judge did not judge of traces be judged again, as runs of their own.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Failure } from "../api.ts";
import { judgeAgain } from "../mutations/judge.ts";
import { outagesQuery } from "../queries/judging.ts";
import { projectJudgeQuery } from "../queries/project-judge.ts";
import { outlineQuery } from "../queries/traces.ts";
import { Button } from "../ui/Button.tsx";
import { FailureNotice } from "../ui/Notice.tsx";
import { toast } from "../ui/Toast.tsx";

/** How many runs were made, and how many traces are left for a further call. */
type Scheduled = { scheduled: number; left: number };

type JudgeAgainProps = {
  projectId: string;
  agentId: string;
  /** Absent: all the agent's traces of which an outage skipped something. */
  traceId?: string;
};

/** While the judge is paused, the way to it: whatever was judged now would be skipped again. */
export function JudgeAgain({ projectId, agentId, traceId }: JudgeAgainProps) {
  const isPaused = usePausedReason(projectId) !== null;
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const judge = async () => {
    setBusy(true);
    setFailure(undefined);
    const answer = await judgeAgain(agentId, traceId);
    setBusy(false);
    if (!answer.ok) return setFailure(answer.failure);
    toast(scheduledText(answer.value, traceId !== undefined));
    await Promise.all([
      queries.invalidateQueries({ queryKey: outagesQuery(agentId).queryKey }),
      traceId !== undefined && queries.invalidateQueries({ queryKey: outlineQuery(traceId).queryKey }),
    ]);
  };
  if (isPaused) {
    return (
      <Link to="/projects/$projectId/settings/judge" params={{ projectId }} className="button button-small">
        Open the paused judge
      </Link>
    );
  }
  return (
    <>
      <Button small busy={busy} onClick={() => void judge()}>
        Judge again
      </Button>
      <FailureNotice failure={failure} />
    </>
  );
}

/** Why the judge is not asked at present; null where it is, and until that is known. */
export function usePausedReason(projectId: string): string | null {
  return useQuery(projectJudgeQuery(projectId)).data?.pausedReason ?? null;
}

function scheduledText({ scheduled, left }: Scheduled, isOne: boolean): string {
  if (scheduled === 0) return "It is being judged already.";
  if (isOne) return "The trace is judged again.";
  const rest = left > 0 ? ` ${left.toLocaleString("en")} are left for another time.` : "";
  return `${scheduled.toLocaleString("en")} ${scheduled === 1 ? "trace is" : "traces are"} judged again.${rest}`;
}
