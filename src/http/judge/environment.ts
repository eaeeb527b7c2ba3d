// The judge of the environment as it is configured here, and a trial of it.
import type { JudgeConnection } from "../../model/judge/call.ts";
import { hostOf } from "../../model/judge/connection.ts";
import type { App, Deps } from "../deps.ts";
import { limitTrials } from "../rate-limit.ts";
import { requireVerified } from "../session.ts";
import { EnvironmentJudge, JudgeTrial } from "./schemas.ts";
import { failedTrial, type JudgeTrialDeps, tryJudge } from "./trials.ts";

export type JudgeDeps = JudgeTrialDeps & {
  /** The operator's; null: there is none. */
  environmentJudge: JudgeConnection | null;
};

export function registerJudge(app: App, deps: Deps & JudgeDeps): void {
  const judge = deps.environmentJudge;
  const tags = ["judge"];
  const trials = limitTrials({ busy: "The judge is being asked already; wait for its answer." });

  app.get(
    "/api/judge",
    {
      schema: {
        tags,
        summary: "Which judge this process has; its key is never told",
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
      schema: {
        tags,
        summary: "Put tiny questions to the judge, and keep how it takes them; one at a time per account",
        response: { 200: JudgeTrial },
      },
    },
    async (request, reply) => {
      const account = requireVerified(request, "Judges are called");
      if (!judge) return failedTrial("No judge is configured; set SVC_JUDGE_MODEL.");
      const gone = new AbortController();
      reply.raw.once("close", () => gone.abort());
      return trials(account.id, () => tryJudge(deps, judge, null, gone.signal));
    },
  );
}
