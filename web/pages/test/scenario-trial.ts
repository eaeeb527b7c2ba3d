// The scenario tried on recent inputs, step by step: what it would cost, then the answers, then what was left.

import { useEffect, useRef, useState } from "react";
import type { ScenarioTrial } from "../../../src/http/test-cases/editor-schemas.ts";
import type { Answer, Failure } from "../../api.ts";
import { tryScenario } from "../../mutations/tests.ts";

/** `scenario` is the text that it is about, whatever has become of it since. */
export type Trial =
  | { step: "none" }
  | { step: "estimating"; scenario: string }
  | { step: "estimated"; scenario: string; estimate: ScenarioTrial }
  /** `trial`: what an earlier press has brought. */
  | { step: "asking"; scenario: string; estimate: ScenarioTrial; trial: ScenarioTrial | undefined }
  | { step: "told"; scenario: string; estimate: ScenarioTrial; trial: ScenarioTrial }
  | { step: "failed"; scenario: string; failure: Failure };

export type TrialControl = {
  trial: Trial;
  /** Asks nothing of the judge, but where it would cost nothing. */
  begin(scenario: string): Promise<void>;
  /** Puts what is open to the judge. */
  go(): Promise<void>;
  stop(): void;
};

export function useScenarioTrial(agentId: string): TrialControl {
  const [trial, setTrial] = useState<Trial>({ step: "none" });
  const open = useRef<AbortController>(undefined);
  useEffect(() => () => open.current?.abort(), []);

  /** Undefined where another, or leaving, has withdrawn it. */
  async function put(scenario: string, estimate: boolean): Promise<Answer<ScenarioTrial> | undefined> {
    open.current?.abort();
    const controller = new AbortController();
    open.current = controller;
    const { signal } = controller;
    try {
      const answer = await tryScenario(agentId, { scenario, estimate }, signal);
      return signal.aborted ? undefined : answer;
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    }
  }

  async function askJudge(scenario: string, estimate: ScenarioTrial, before: ScenarioTrial | undefined) {
    setTrial({ step: "asking", scenario, estimate, trial: before });
    const answer = await put(scenario, false);
    if (answer?.ok) setTrial({ step: "told", scenario, estimate, trial: answer.value });
    else if (answer) setTrial({ step: "failed", scenario, failure: answer.failure });
  }

  return {
    trial,
    async begin(scenario) {
      setTrial({ step: "estimating", scenario });
      const answer = await put(scenario, true);
      if (!answer) return;
      if (!answer.ok) return setTrial({ step: "failed", scenario, failure: answer.failure });
      const estimate = answer.value;
      const isFree = estimate.inputs > 0 && estimate.calls === 0 && estimate.unavailable === null;
      if (isFree) await askJudge(scenario, estimate, undefined);
      else setTrial({ step: "estimated", scenario, estimate });
    },
    async go() {
      if (trial.step === "estimated") await askJudge(trial.scenario, trial.estimate, undefined);
      if (trial.step === "told") await askJudge(trial.scenario, trial.estimate, trial.trial);
    },
    stop() {
      open.current?.abort();
      if (trial.step === "asking" && trial.trial) setTrial({ ...trial, step: "told", trial: trial.trial });
      else if (trial.step === "asking") setTrial({ ...trial, step: "estimated" });
      else setTrial({ step: "none" });
    },
  };
}
