// Scenario trial: which of the latest inputs the scenario would match. Shows the cost first, then asks the judge.
import { useId } from "react";
import type { ScenarioTrial } from "../../../src/http/test-cases/editor-schemas.ts";
import { counted } from "../../labels.ts";
import { moneyText, usedText } from "../../money.ts";
import { Button } from "../../ui/Button.tsx";
import { FailureNotice, Notice } from "../../ui/Notice.tsx";
import type { Trial, TrialControl } from "./scenario-trial.ts";
import { TriedInputs } from "./TriedInputs.tsx";

type TryScenarioProps = {
  /** As in the document: any JSON value. */
  scenario: unknown;
  control: TrialControl;
};

export const tryScenarioId = "try-scenario-heading";

export function TryScenario({ scenario, control }: TryScenarioProps) {
  const { trial, estimate, askJudge, stop } = control;
  const newsId = useId();
  const text = typeof scenario === "string" ? scenario : "";
  const isBusy = trial.step === "estimating" || trial.step === "asking";
  const isOutdated = trial.step !== "none" && trial.scenario !== text;
  return (
    <section className="card stack" aria-labelledby={tryScenarioId} tabIndex={-1}>
      <div className="stack-tight">
        <h2 id={tryScenarioId} tabIndex={-1}>
          Try scenario on recent inputs
        </h2>
        <p className="quiet small">
          Shows which of the last 50 traces the scenario would match. You see the cost first.
        </p>
      </div>
      {(isOutdated || !isInProgress(trial)) && (
        <div className="line">
          {/\S/.test(text) ? (
            <Button busy={isBusy} onClick={() => void estimate(text)}>
              Try on recent inputs
            </Button>
          ) : (
            <p className="quiet">Write the scenario first.</p>
          )}
        </div>
      )}
      <div className="stack editor-news" id={newsId} aria-live="polite">
        {isOutdated && !isBusy && (
          <Notice tone="warn">Outdated: the scenario has changed. Try it again.</Notice>
        )}
        {trial.step === "estimating" && <p className="quiet">Reading the latest traces…</p>}
        {trial.step === "failed" && <FailureNotice failure={trial.failure} />}
        {trial.step === "estimated" && (
          <Estimate
            estimate={trial.estimate}
            outdated={isOutdated}
            onAsk={() => void askJudge()}
            onCancel={stop}
          />
        )}
        {trial.step === "asking" && (
          <div className="line line-apart">
            <p className="quiet">Asking the judge about one input at a time. This may take half a minute.</p>
            <Button small onClick={stop}>
              Stop
            </Button>
          </div>
        )}
        {trial.step === "answered" && <Summary trial={trial.trial} onAsk={() => void askJudge()} />}
      </div>
      {(trial.step === "answered" || trial.step === "asking") &&
        trial.trial &&
        trial.trial.items.length > 0 && <TriedInputs items={trial.trial.items} />}
    </section>
  );
}

/** Whether the trial waits for the judge or for the user's decision on the cost. */
function isInProgress(trial: Trial): boolean {
  if (trial.step === "estimated") return trial.estimate.inputs > 0 && trial.estimate.unavailable === null;
  return trial.step === "estimating" || trial.step === "asking";
}

type EstimateProps = { estimate: ScenarioTrial; outdated: boolean; onAsk: () => void; onCancel: () => void };

/** What asking the judge will cost. */
function Estimate({ estimate, outdated, onAsk, onCancel }: EstimateProps) {
  const { inputs, cached, calls, costUsd, unavailable } = estimate;
  if (unavailable) return <Unavailable unavailable={unavailable} />;
  if (inputs === 0) return <p>{noInputsText(estimate)}</p>;
  return (
    <>
      <p>
        {counted(inputs, "distinct input")} in the latest {counted(estimate.traces, "trace")}
        {cached > 0 && `, ${cached} of them already answered`}. Asking takes about{" "}
        {counted(calls, "judge call")}
        {estimate.inputTokens > 0 && <>, {usedText(estimate)}</>}:{" "}
        <strong>{costUsd === null ? "price unknown" : `about ${moneyText(costUsd)}`}</strong>.{" "}
        <LeftOut trial={estimate} />
      </p>
      {!outdated && (
        <div className="line">
          <Button look="main" onClick={onAsk}>
            Ask the judge
          </Button>
          <Button onClick={onCancel}>Cancel</Button>
        </div>
      )}
    </>
  );
}

function Summary({ trial, onAsk }: { trial: ScenarioTrial; onAsk: () => void }) {
  const { left, calls, cached, costUsd, unavailable, items } = trial;
  if (trial.inputs === 0) return <p>{noInputsText(trial)}</p>;
  return (
    <>
      {items.length > 0 && (
        <p className="quiet small">
          {counted(items.length, "input")} answered
          {cached === items.length
            ? ", all from earlier answers at no cost."
            : ` with ${counted(calls, "judge call")}, ${usedText(trial)}${costUsd === null ? "" : `, ${moneyText(costUsd)}`}.`}{" "}
          <LeftOut trial={trial} />
        </p>
      )}
      {unavailable && <Unavailable unavailable={unavailable} />}
      {left > 0 && (
        <div className="line">
          <Button onClick={onAsk}>Ask about the remaining {left}</Button>
        </div>
      )}
    </>
  );
}

function Unavailable({ unavailable }: { unavailable: NonNullable<ScenarioTrial["unavailable"]> }) {
  return <Notice tone="warn">The judge is unavailable. {unavailable.reason}</Notice>;
}

/** The traces that were not included, and why. */
function LeftOut({ trial: { withoutInput, unread } }: { trial: ScenarioTrial }) {
  const parts = [
    ...(withoutInput > 0 ? [`${counted(withoutInput, "trace")} without user input`] : []),
    ...(unread > 0 ? [`${unread} too large to read`] : []),
  ];
  return parts.length > 0 && `Not included: ${parts.join(", ")}.`;
}

function noInputsText({ traces }: ScenarioTrial): string {
  return traces === 0
    ? "This agent has no traces yet. Send one, then try the scenario."
    : "None of the latest traces has user input, so there is nothing to match the scenario against.";
}
