// /api/judge: the judge that the environment configures, and testing it.

import type { JudgeConnection } from "../../model/judge/call.ts";
import { hostOf } from "../../model/judge/connection.ts";
import type { App, Deps } from "../deps.ts";
import { limitTrials } from "../rate-limit.ts";
import { requireVerified } from "../signed-in.ts";
import { EnvironmentJudge, JudgeTrial } from "./schemas.ts";
import { failedTrial, type JudgeTrialDeps, tryJudge } from "./trials.ts";

export type JudgeDeps = JudgeTrialDeps & {
  /** The judge that the environment configures; null: none. */
  environmentJudge: JudgeConnection | null;
};

export function registerJudge(app: App, deps: Deps & JudgeDeps): void {
  const judge = deps.environmentJudge;
  const tags = ["judge"];
  const trials = limitTrials(deps, {
    kind: "judge tests",
    busy: "A test of the judge is already running. Wait for its result.",
  });

  app.get(
    "/api/judge",
    {
      schema: {
        tags,
        summary: "Get the judge of the environment (key omitted)",
        response: { 200: EnvironmentJudge },
      },
    },
    async () => ({
      configured: judge !== null,
      host: judge ? hostOf(judge) : null,
      model: judge?.model ?? null,
    }),
  );

  app.post(
    "/api/judge/test",
    {
      config: { waits: true },
      schema: {
        tags,
        summary: "Test the judge of the environment; one test at a time per account",
        response: { 200: JudgeTrial },
      },
    },
    async (request, reply) => {
      const account = requireVerified(request, "Judges can be called");
      if (!judge) return failedTrial("No judge is configured; set SVC_JUDGE_MODEL.");
      const gone = new AbortController();
      reply.raw.once("close", () => gone.abort());
      return trials(account.id, () => tryJudge(deps, judge, null, gone.signal));
    },
  );
}
