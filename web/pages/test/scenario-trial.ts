// State machine of a scenario trial: estimate the cost, ask the judge, then ask about what is left.
import { useEffect, useRef, useState } from "react";
import type { ScenarioTrial } from "../../../src/http/test-cases/editor-schemas.ts";
import type { Answer, Failure } from "../../api.ts";
import { tryScenario } from "../../mutations/tests.ts";

/** `scenario` is the text that was tried, even if the document has changed since. */
export type Trial =
  | { step: "none" }
  | { step: "estimating"; scenario: string }
  | { step: "estimated"; scenario: string; estimate: ScenarioTrial }
  /** `trial`: the answers so far, when asking about the remaining inputs. */
  | { step: "asking"; scenario: string; estimate: ScenarioTrial; trial: ScenarioTrial | undefined }
  | { step: "answered"; scenario: string; estimate: ScenarioTrial; trial: ScenarioTrial }
  | { step: "failed"; scenario: string; failure: Failure };

export type TrialControl = {
  trial: Trial;
  /** Estimates the cost. Shows the answers at once if all are cached. */
  estimate(scenario: string): Promise<void>;
  /** Asks the judge about all inputs that are not answered yet. */
  askJudge(): Promise<void>;
  stop(): void;
};

export function useScenarioTrial(agentId: string): TrialControl {
  const [trial, setTrial] = useState<Trial>({ step: "none" });
  const open = useRef<AbortController>(undefined);
  useEffect(() => () => open.current?.abort(), []);

  /** Returns undefined if the request was aborted: by another one, or by leaving the page. */
  async function request(scenario: string, estimate: boolean): Promise<Answer<ScenarioTrial> | undefined> {
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

  async function answer(scenario: string, estimate: ScenarioTrial, before: ScenarioTrial | undefined) {
    setTrial({ step: "asking", scenario, estimate, trial: before });
    const reply = await request(scenario, false);
    if (reply?.ok) setTrial({ step: "answered", scenario, estimate, trial: reply.value });
    else if (reply) setTrial({ step: "failed", scenario, failure: reply.failure });
  }

  return {
    trial,
    async estimate(scenario) {
      setTrial({ step: "estimating", scenario });
      const reply = await request(scenario, true);
      if (!reply) return;
      if (!reply.ok) return setTrial({ step: "failed", scenario, failure: reply.failure });
      const estimate = reply.value;
      const isFree = estimate.inputs > 0 && estimate.calls === 0 && estimate.unavailable === null;
      if (isFree) await answer(scenario, estimate, undefined);
      else setTrial({ step: "estimated", scenario, estimate });
    },
    async askJudge() {
      if (trial.step === "estimated") await answer(trial.scenario, trial.estimate, undefined);
      if (trial.step === "answered") await answer(trial.scenario, trial.estimate, trial.trial);
    },
    stop() {
      open.current?.abort();
      if (trial.step === "asking" && trial.trial)
        setTrial({ ...trial, step: "answered", trial: trial.trial });
      else if (trial.step === "asking") setTrial({ ...trial, step: "estimated" });
      else setTrial({ step: "none" });
    },
  };
}
