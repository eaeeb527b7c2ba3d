// Which of the latest inputs the scenario would match: what asking costs, and on a press the judge's answers.

import { useId } from "react";
import type { ScenarioTrial } from "../../../src/http/test-cases/editor-schemas.ts";
import { counted } from "../../labels.ts";
import { moneyText, usedText } from "../../money.ts";
import { Button } from "../../ui/Button.tsx";
import { FailureNotice, Notice } from "../../ui/Notice.tsx";
import type { Trial, TrialControl } from "./scenario-trial.ts";
import { TriedInputs } from "./TriedInputs.tsx";

type TryScenarioProps = {
  /** As it stands in the document. */
  scenario: unknown;
  control: TrialControl;
};

export const tryScenarioId = "try-scenario-heading";

export function TryScenario({ scenario, control }: TryScenarioProps) {
  const { trial, begin, go, stop } = control;
  const newsId = useId();
  const text = typeof scenario === "string" ? scenario : "";
  const isBusy = trial.step === "estimating" || trial.step === "asking";
  const isOutdated = trial.step !== "none" && trial.scenario !== text;
  return (
    <section className="card stack" aria-labelledby={tryScenarioId} tabIndex={-1}>
      <div className="stack-tight">
        <h2 id={tryScenarioId} tabIndex={-1}>
          Scenario on recent inputs
        </h2>
        <p className="quiet small">
          Shows which of the last 50 conversations the scenario would match. What it costs is said first.
        </p>
      </div>
      {(isOutdated || !isOpen(trial)) && (
        <div className="line">
          {/\S/.test(text) ? (
            <Button busy={isBusy} onClick={() => void begin(text)}>
              Try on recent inputs
            </Button>
          ) : (
            <p className="quiet">Write the scenario first.</p>
          )}
        </div>
      )}
      <div className="stack editor-news" id={newsId} aria-live="polite">
        {isOutdated && !isBusy && (
          <Notice tone="warn">Outdated: the scenario has changed since. Try it again.</Notice>
        )}
        {trial.step === "estimating" && <p className="quiet">Reading the latest conversations.</p>}
        {trial.step === "failed" && <FailureNotice failure={trial.failure} />}
        {trial.step === "estimated" && (
          <Estimate estimate={trial.estimate} outdated={isOutdated} onGo={() => void go()} onCancel={stop} />
        )}
        {trial.step === "asking" && (
          <div className="line line-apart">
            <p className="quiet">Asking the judge, one input at a time. This may take half a minute.</p>
            <Button small onClick={stop}>
              Stop
            </Button>
          </div>
        )}
        {trial.step === "told" && <Summary trial={trial.trial} onGo={() => void go()} />}
      </div>
      {(trial.step === "told" || trial.step === "asking") && trial.trial && trial.trial.items.length > 0 && (
        <TriedInputs items={trial.trial.items} />
      )}
    </section>
  );
}

/** Whether something else is to be pressed, or waited for, first. */
function isOpen(trial: Trial): boolean {
  if (trial.step === "estimated") return trial.estimate.inputs > 0 && trial.estimate.unavailable === null;
  return trial.step === "estimating" || trial.step === "asking";
}

type EstimateProps = { estimate: ScenarioTrial; outdated: boolean; onGo: () => void; onCancel: () => void };

/** What asking comes to, before anything is asked. */
function Estimate({ estimate, outdated, onGo, onCancel }: EstimateProps) {
  const { inputs, cached, calls, costUsd, unavailable } = estimate;
  if (unavailable) return <Unavailable unavailable={unavailable} />;
  if (inputs === 0) return <p>{nothing(estimate)}</p>;
  return (
    <>
      <p>
        {counted(inputs, "distinct input")} in the latest {counted(estimate.traces, "conversation")}
        {cached > 0 && `, ${cached} of them known already`}. Asking takes about {counted(calls, "call")} to
        the judge{estimate.inputTokens > 0 && <>, {usedText(estimate)}</>}:{" "}
        <strong>{costUsd === null ? "its price is not known" : `about ${moneyText(costUsd)}`}</strong>.{" "}
        <LeftOut trial={estimate} />
      </p>
      {!outdated && (
        <div className="line">
          <Button look="main" onClick={onGo}>
            Ask the judge
          </Button>
          <Button onClick={onCancel}>Cancel</Button>
        </div>
      )}
    </>
  );
}

function Summary({ trial, onGo }: { trial: ScenarioTrial; onGo: () => void }) {
  const { left, calls, cached, costUsd, unavailable, items } = trial;
  if (trial.inputs === 0) return <p>{nothing(trial)}</p>;
  return (
    <>
      {items.length > 0 && (
        <p className="quiet small">
          {counted(items.length, "input")} answered
          {cached === items.length
            ? ", all known already: nothing was spent."
            : ` by ${counted(calls, "call")}, ${usedText(trial)}${costUsd === null ? "" : `, ${moneyText(costUsd)}`}.`}{" "}
          <LeftOut trial={trial} />
        </p>
      )}
      {unavailable && <Unavailable unavailable={unavailable} />}
      {left > 0 && (
        <div className="line">
          <Button onClick={onGo}>Ask about the {left} that are left</Button>
        </div>
      )}
    </>
  );
}

function Unavailable({ unavailable }: { unavailable: NonNullable<ScenarioTrial["unavailable"]> }) {
  return <Notice tone="warn">The judge cannot be asked at present. {unavailable.reason}</Notice>;
}

/** What was not looked at, and why. */
function LeftOut({ trial: { withoutInput, unread } }: { trial: ScenarioTrial }) {
  const parts = [
    ...(withoutInput > 0 ? [`${counted(withoutInput, "conversation")} without an input`] : []),
    ...(unread > 0 ? [`${unread} too large to be read here`] : []),
  ];
  return parts.length > 0 && `Left out: ${parts.join(", ")}.`;
}

function nothing({ traces }: ScenarioTrial): string {
  return traces === 0
    ? "This agent has no conversation yet: send one, then try the scenario on it."
    : "None of the latest conversations holds a user input, so there is nothing to compare the scenario with.";
}
