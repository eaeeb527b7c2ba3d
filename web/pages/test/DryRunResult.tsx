// The result of a dry run: the outcome, whether the test would apply, and each check as in an evaluation.

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { DryRun } from "../../../src/http/test-cases/editor-schemas.ts";
import type { TraceOutline } from "../../../src/http/traces/schemas.ts";
import type { Outcome } from "../../../src/model/run/outcome.ts";
import { outcomeWord, whys } from "../../labels.ts";
import { outlineQuery } from "../../queries/traces.ts";
import "../../styles/judging.css";
import { Badge } from "../../ui/Badge.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { Notice } from "../../ui/Notice.tsx";
import { Loaded } from "../../ui/State.tsx";
import { TraceText } from "../../ui/TraceText.tsx";
import { CheckList } from "../trace/evaluation/CheckList.tsx";
import { InputFlag } from "../trace/evaluation/InputFlag.tsx";

type Place = { projectId: string; agentId: string };

type ResultProps = {
  run: DryRun;
  place: Place;
  /** The test was drafted from this trace. */
  isOfDraft: boolean;
  mustFail: boolean;
};

export function DryRunResult({ run, place, isOfDraft, mustFail }: ResultProps) {
  const { result, applicability } = run;
  const trace = useQuery(outlineQuery(run.traceId));
  return (
    <div className="stack">
      <h3 className="line">
        <Badge word={outcomeWord(result.outcome, result.fullyEvaluated)} />
        <span className="break">{result.reason}</span>
      </h3>
      {isOfDraft && trace.data && <OfDraft trace={trace.data} outcome={result.outcome} mustFail={mustFail} />}
      {applicability && (
        <p className="break">
          <Icon name={applicability.applied ? "check" : "skip"} />{" "}
          <strong>{applicability.applied ? "Would apply." : "Would not apply."}</strong>{" "}
          {whys[applicability.why]} <TraceText text={applicability.reason ?? ""} />
        </p>
      )}
      {applicability?.suspicious !== undefined && <InputFlag reason={applicability.suspicious} />}
      {result.checks.length > 0 && (
        <Loaded query={trace}>{outline => <Checks run={run} trace={outline} place={place} />}</Loaded>
      )}
    </div>
  );
}

type OfDraftProps = { trace: TraceOutline; outcome: Outcome; mustFail: boolean };

/** A test drafted from a failed trace is there to find the failure; one that forbids what a trace did, to find that. */
function OfDraft({ trace, outcome, mustFail }: OfDraftProps) {
  const isFailed = trace.failed || (trace.httpStatus ?? 0) >= 400 || trace.run?.verdict === "failed";
  if (!isFailed && !(mustFail && outcome === "failed")) return null;
  if (outcome === "failed") return <Notice tone="good">This trace fails it, as it should.</Notice>;
  return (
    <Notice tone="warn">
      This trace failed, but it does not fail this test. What should not have happened? Choose the opposite
      rule for that check.
    </Notice>
  );
}

function Checks({ run, trace, place }: { run: DryRun; trace: TraceOutline; place: Place }) {
  const traces = useMemo(() => [trace], [trace]);
  return <CheckList result={{ ...run.result, testId: "dry-run" }} traces={traces} params={place} />;
}
