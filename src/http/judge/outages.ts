// Counts traces that are not fully evaluated because the judge was unavailable, and evaluates these or chosen ones again.

import { z } from "zod";
import type { JudgeConnection } from "../../model/judge/call.ts";
import { againMax } from "../../model/judge/outages.ts";
import type { JudgeReason } from "../../model/judge/reason.ts";
import { Refusal } from "../../model/refusal.ts";
import { reasonText } from "../../model/run/reason-text.ts";
import type { AgainRefusal } from "../../model/run/tests-again.ts";
import type { Database } from "../../store/db.ts";
import type { EventPublisher } from "../../store/events.ts";
import { type FoundJudge, findAgentJudge } from "../../store/judge/agent-judge.ts";
import { evaluateAgain } from "../../store/runs/again.ts";
import { evaluateManualRunsAgain } from "../../store/runs/manual-runs.ts";
import { countLeft, judgeAgain, readOutages } from "../../store/runs/outages.ts";
import type { Vault } from "../../store/secrets/vault.ts";
import type { App, Deps } from "../frame/deps.ts";
import { routesOf } from "../frame/route.ts";
import { Id } from "../frame/schemas.ts";
import { JudgedAgain, Outages } from "./schemas.ts";

const ToEvaluate = z
  .object({
    traceIds: z
      .array(Id)
      .min(1)
      .max(againMax)
      .optional()
      .describe(
        `Live traces, or traces of manual runs the judge was unavailable for or whose traces changed. Default: live ones with checks the judge was unavailable for, at most the ${againMax} oldest. Not with \`runIds\` or \`launchId\`.`,
      ),
    runIds: z
      .array(Id)
      .min(1)
      .max(againMax)
      .optional()
      .describe("Manual runs instead; the agent is not called."),
    launchId: Id.optional().describe("All manual runs of this launch instead; the agent is not called."),
  })
  .check(({ value, issues }) => {
    const { traceIds, runIds, launchId } = value;
    if (!traceIds || !(runIds || launchId)) return;
    const message = "Pass either traceIds, or runIds or launchId. Send a request for each.";
    issues.push({ code: "custom", path: ["traceIds"], message, input: traceIds });
  })
  .meta({
    not: { required: ["traceIds"], anyOf: [{ required: ["runIds"] }, { required: ["launchId"] }] },
  });

export type OutagesDeps = Deps & {
  /** Called after manual runs were scheduled. */
  onLaunch: () => void;
  events: EventPublisher;
  /** How long a manual run waits for the judge. */
  judgeDeadlineMs: number;
  vault: Vault;
  /** The operator's; null: there is none. */
  environmentJudge: JudgeConnection | null;
  judgeTimeoutMs: number;
};

export function registerOutages(app: App, deps: OutagesDeps): void {
  const route = routesOf(app, "runs");
  const { db, events, onLaunch, judgeDeadlineMs } = deps;
  const { vault, environmentJudge: environment, judgeTimeoutMs: timeoutMs } = deps;

  route("GET /api/agents/:id/outages", {
    access: "tokens",
    summary: "Count the traces with checks the judge was unavailable for",
    answer: Outages,
    handler: ({ id }) => readOutages(db, id),
  });

  route("POST /api/agents/:id/judge-again", {
    access: "session",
    summary:
      "Evaluate traces again with the versions of the tests used last, or once with the tests as they are if none has judged them; or manual runs the judge was unavailable for or whose traces changed",
    body: ToEvaluate,
    answer: JudgedAgain,
    handler: async ({ id: agentId, body: { traceIds, runIds, launchId } }) => {
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
      if (runIds || launchId) return { scheduled: manual.length, left: 0, refused: [] };
      const ofManual = new Set(manual.flatMap(run => run.traceIds));
      const { runs, left, refused } = traceIds
        ? await evaluateChosen(
            db,
            agentId,
            traceIds.filter(id => !ofManual.has(id.toLowerCase())),
          )
        : { ...(await judgeAgain(db, agentId)), refused: [] };
      for (const { runId, traceId } of runs) {
        events.publish({ type: "run", agentId, traceId, runId, state: "pending", verdict: null });
      }
      return { scheduled: manual.length + runs.length, left, refused };
    },
  });
}

async function evaluateChosen(db: Database, agentId: string, traceIds: string[]) {
  const { runs, refused } = await evaluateAgain(db, agentId, traceIds);
  const explained = refused.map(one => ({ ...one, message: refusalTexts[one.reason] }));
  return { runs, refused: explained, left: await countLeft(db, agentId) };
}

const refusalTexts: Record<AgainRefusal, string> = {
  not_found: "This agent has no such trace.",
  test_run:
    "Traces of manual runs are evaluated again only if the judge was unavailable or they changed. Rerun the tests instead.",
  in_progress: "The trace is being evaluated already.",
  never_evaluated:
    "No test has evaluated this trace, and no active test does now. Activate one, then check the trace.",
  tests_deleted:
    "The tests that evaluated this trace were deleted. To try another test, run a backtest in its editor.",
  content_not_stored: "The content of the trace was not stored, or has been forgotten.",
};

/** Why the judge is paused, so that whatever was scheduled would be skipped again; undefined: it is not. */
function pauseOf({ keyUnreadable, state }: FoundJudge): JudgeReason | undefined {
  if (keyUnreadable) return { code: "judge_key_unreadable" };
  const why = state?.pausedReason ?? null;
  return why === null ? undefined : { code: "judge_paused", data: { why } };
}
