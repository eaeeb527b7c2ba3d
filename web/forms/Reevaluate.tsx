// Evaluates live traces again in a new run, and manual runs in place: those that an outage left open, or whose trace changed.

import { type QueryKey, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { JudgedAgain } from "../../src/http/judge/schemas.ts";
import type { Failure } from "../api.ts";
import { numberText } from "../format.ts";
import { counted } from "../labels.ts";
import { reevaluate, type ToReevaluate } from "../mutations/judge.ts";
import { outagesQuery } from "../queries/judging.ts";
import { launchQuery, manualRunQuery } from "../queries/launches.ts";
import { projectJudgeQuery } from "../queries/project-judge.ts";
import { outlineQuery } from "../queries/traces.ts";
import { Button } from "../ui/Button.tsx";
import { FailureNotice, Notice } from "../ui/Notice.tsx";
import { toast } from "../ui/Toast.tsx";

type ReevaluateProps = {
  projectId: string;
  agentId: string;
  /** Absent: all live traces of the agent with checks that the judge was unavailable for. */
  what?: ToReevaluate;
  /** No test has judged the trace yet. */
  isFirst?: boolean;
};

/** While the judge is paused, a link to it instead: the checks would only be skipped again. */
export function Reevaluate({ projectId, agentId, what = {}, isFirst = false }: ReevaluateProps) {
  const isPaused = usePausedReason(projectId) !== null;
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const [refused, setRefused] = useState<string>();
  const start = async () => {
    setBusy(true);
    setFailure(undefined);
    setRefused(undefined);
    const answer = await reevaluate(agentId, what);
    setBusy(false);
    if (!answer.ok) return setFailure(answer.failure);
    const refusal = answer.value.refused.find(({ reason }) => reason !== "in_progress");
    if (refusal) setRefused(refusal.message);
    else toast(isFirst ? "Checking the trace" : scheduledText(answer.value, what));
    const keys = [outagesQuery(agentId).queryKey, ...keysOf(what)];
    await Promise.all(keys.map(queryKey => queries.invalidateQueries({ queryKey })));
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
      <Button small busy={busy} onClick={() => void start()}>
        {isFirst ? "Check this trace" : "Re-evaluate"}
      </Button>
      <FailureNotice failure={failure} />
      {refused !== undefined && <Notice tone="warn">{refused}</Notice>}
    </>
  );
}

/** Why the judge is paused; null if it is not, and while that is loading. */
export function usePausedReason(projectId: string): string | null {
  return useQuery(projectJudgeQuery(projectId)).data?.pausedReason ?? null;
}

function keysOf(what: ToReevaluate): QueryKey[] {
  if ("launchId" in what) return [launchQuery(what.launchId).queryKey];
  if ("runIds" in what) return what.runIds.map(id => manualRunQuery(id).queryKey);
  return what.traceIds?.map(id => outlineQuery(id).queryKey) ?? [];
}

function scheduledText({ scheduled, left }: JudgedAgain, what: ToReevaluate): string {
  if (scheduled === 0) return "Already being re-evaluated";
  if ("runIds" in what) return "Re-evaluating the test run";
  if ("launchId" in what) return `Re-evaluating ${counted(scheduled, "test run")}`;
  if (what.traceIds) return "Re-evaluating the trace";
  const traces = `${numberText(scheduled)} ${scheduled === 1 ? "trace" : "traces"}`;
  return left > 0
    ? `Re-evaluating ${traces}. Re-evaluate again for the other ${numberText(left)}.`
    : `Re-evaluating ${traces}`;
}
