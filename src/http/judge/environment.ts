// /api/judge: the judge that the environment configures, and testing it.

import type { JudgeConnection } from "../../model/judge/call.ts";
import { hostOf } from "../../model/judge/connection.ts";
import type { App, Deps } from "../frame/deps.ts";
import { limitTrials } from "../frame/rate-limit.ts";
import { routesOf, untilClosed } from "../frame/route.ts";
import { requireVerified } from "../frame/signed-in.ts";
import { EnvironmentJudge, JudgeTrial } from "./schemas.ts";
import { failedTrial, type JudgeTrialDeps, tryJudge } from "./trials.ts";

export type JudgeDeps = JudgeTrialDeps & {
  /** The judge that the environment configures; null: none. */
  environmentJudge: JudgeConnection | null;
};

export function registerJudge(app: App, deps: Deps & JudgeDeps): void {
  const route = routesOf(app, "judge");
  const judge = deps.environmentJudge;
  const trials = limitTrials(deps, {
    kind: "judge tests",
    busy: "A test of the judge is already running. Wait for its result.",
  });

  route("GET /api/judge", {
    access: "tokens",
    summary: "Get the judge of the environment (key omitted)",
    answer: EnvironmentJudge,
    handler: async () => ({
      configured: judge !== null,
      host: judge ? hostOf(judge) : null,
      model: judge?.model ?? null,
    }),
  });

  route("POST /api/judge/test", {
    access: "session",
    waits: true,
    summary: "Test the judge of the environment; one test at a time per account",
    answer: JudgeTrial,
    handler: async ({ account, reply }) => {
      requireVerified(account, "Judges can be called");
      if (!judge) return failedTrial("No judge is configured; set SVC_JUDGE_MODEL.");
      return trials(account.id, () => tryJudge(deps, judge, null, untilClosed(reply)));
    },
  });
}
