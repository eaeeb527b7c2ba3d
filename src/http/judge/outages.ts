// Counts traces that are not fully evaluated because the judge was unavailable, and evaluates them again.
import { z } from "zod";
import type { JudgeConnection } from "../../model/judge/call.ts";
import { againMax } from "../../model/judge/outages.ts";
import { Refusal } from "../../model/refusal.ts";
import type { JudgeReason } from "../../model/run/reason.ts";
import { reasonText } from "../../model/run/reason-text.ts";
import type { EventPublisher } from "../../store/events.ts";
import { type FoundJudge, findAgentJudge } from "../../store/judge/agent-judge.ts";
import { judgeAgain, readOutages } from "../../store/judge/outages.ts";
import { evaluateManualRunsAgain } from "../../store/runs/manual-runs.ts";
import type { Vault } from "../../store/secrets/vault.ts";
import type { App, Deps } from "../deps.ts";
import { Id } from "../schemas.ts";
import type { LaunchesDeps } from "../test-cases/launches.ts";
import { JudgedAgain, Outages } from "./schemas.ts";

const ToEvaluate = z.object({
  traceIds: z
    .array(Id)
    .min(1)
    .max(againMax)
    .optional()
    .describe(
      `Traces, of live traffic or of manual runs. Default: live ones with checks the judge was unavailable for, at most the ${againMax} oldest.`,
    ),
  runIds: z
    .array(Id)
    .min(1)
    .max(againMax)
    .optional()
    .describe("Manual runs instead; the agent is not called."),
  launchId: Id.optional().describe("All manual runs of this launch instead; the agent is not called."),
});

export type OutagesDeps = Deps &
  Pick<LaunchesDeps, "onLaunch"> & {
    events: EventPublisher;
    /** How long a manual run waits for the judge. */
    judgeDeadlineMs: number;
    vault: Vault;
    /** The operator's; null: there is none. */
    environmentJudge: JudgeConnection | null;
    judgeTimeoutMs: number;
  };

export function registerOutages(app: App, deps: OutagesDeps): void {
  const { db, events, onLaunch, judgeDeadlineMs } = deps;
  const { vault, environmentJudge: environment, judgeTimeoutMs: timeoutMs } = deps;
  const tags = ["runs"];
  const params = z.object({ id: z.string() });

  app.get(
    "/api/agents/:id/outages",
    {
      schema: {
        tags,
        summary: "Count the traces with checks the judge was unavailable for",
        params,
        response: { 200: Outages },
      },
    },
    async ({ params: { id } }) => {
      const { oldest, ...counts } = await readOutages(db, id);
      return { ...counts, oldest: oldest?.toISOString() ?? null };
    },
  );

  app.post(
    "/api/agents/:id/judge-again",
    {
      schema: {
        tags,
        summary:
          "Evaluate traces or manual runs the judge was unavailable for again, with the same versions of the tests",
        params,
        body: ToEvaluate,
        response: { 200: JudgedAgain },
      },
    },
    async ({ params: { id: agentId }, body: { traceIds, runIds, launchId } }) => {
      const found = await findAgentJudge(db, { vault, environment, timeoutMs, agentId });
      const reason = found?.judge && pauseOf(found.judge);
      if (reason) throw new Refusal("CONFLICT", { message: reasonText(reason) });
      const manual =
        traceIds || runIds || launchId
          ? await evaluateManualRunsAgain(
              db,
              agentId,
              {
                ...(traceIds && { traceIds }),
                ...(runIds && { runIds }),
                ...(launchId && { launchId }),
              },
              judgeDeadlineMs,
            )
          : [];
      for (const run of manual) {
        events.publish({ type: "launch", agentId, launchId: run.launchId, runId: run.id });
      }
      if (manual.length > 0) onLaunch();
      if (runIds || launchId) return { scheduled: manual.length, left: 0 };
      const scheduled = await judgeAgain(db, agentId, traceIds);
      for (const { runId, traceId } of scheduled.runs) {
        events.publish({ type: "run", agentId, traceId, runId, state: "pending", verdict: null });
      }
      return { scheduled: manual.length + scheduled.runs.length, left: scheduled.left };
    },
  );
}

/** Why the judge is paused, so that whatever was scheduled would be skipped again; undefined: it is not. */
function pauseOf({ keyUnreadable, state }: FoundJudge): JudgeReason | undefined {
  if (keyUnreadable) return { code: "judge_key_unreadable" };
  const why = state?.pausedReason ?? null;
  return why === null ? undefined : { code: "judge_paused", data: { why } };
}
