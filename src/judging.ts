// Judges on behalf of agents: finds who judges for each, asks as little as can be, keeps what was said and what it cost.
import { createHash } from "node:crypto";
import type { Logger } from "pino";
import { suspicionOf } from "./evaluate/suspicion.ts";
import { type Connections, type LineOpener, openConnections, type Reach } from "./judging/connections.ts";
import { backoff, type Fault, unjudgedBy } from "./judging/faults.ts";
import type { Basis } from "./judging/keys.ts";
import { openLedger } from "./judging/ledger.ts";
import { type Asking, openAsking } from "./judging/question-broker.ts";
import { route } from "./judging/route.ts";
import { estimateRoute } from "./judging/route-estimate.ts";
import { ask } from "./judging/semantic.ts";
import type { JudgeCall, JudgeConnection } from "./model/judge/call.ts";
import type {
  Judge,
  JudgeContext,
  JudgeOf,
  RoutingAnswer,
  SemanticAnswer,
  Unjudged,
} from "./model/judge/judge.ts";
import { type Clock, systemClock } from "./remote/clock.ts";
import { type Database, isTransient } from "./store/db.ts";
import type { Vault } from "./store/secrets/vault.ts";

export type JudgingDeps = {
  db: Database;
  vault: Vault;
  /** The connection of whoever runs the service, for projects without their own; null: none. */
  environment: JudgeConnection | null;
  openLine: LineOpener;
  log: Pick<Logger, "error" | "warn">;
  /** Told of every call. */
  onCall?: (call: JudgeCall) => void;
  clock?: Clock;
};

export type Judging = {
  judgeOf: JudgeOf;
  /** Writes what is not written yet. */
  close(): Promise<void>;
};

export function openJudging({ db, log, onCall, clock = systemClock, ...deps }: JudgingDeps): Judging {
  const connections = openConnections({ db, clock, ...deps });
  const ledger = openLedger(db, log);
  const asking = openAsking({ db, ledger, connections, clock, onCall });
  return {
    judgeOf: context => judgeFor(context, { db, connections, asking, clock }),
    close: () => ledger.close(),
  };
}

type Parts = { db: Database; connections: Connections; asking: Asking; clock: Clock };

function judgeFor(context: JudgeContext, { db, connections, asking, clock }: Parts): Judge {
  const deps = { asking, clock, suspicionOf };

  /** What a judge asked for that judges no more, because its connection was edited meanwhile, holds nobody up. */
  async function upToDate<A extends RoutingAnswer | SemanticAnswer>(
    answers: A[],
    reach: Reach,
  ): Promise<A[]> {
    if (!answers.some(({ state }) => state === "waiting")) return answers;
    const now = await connections.find(context.agentId).catch(() => undefined);
    if (!now || now.judge?.fingerprint.equals(reach.judge.fingerprint)) return answers;
    const nextTryAt = clock.now() + backoff.busyMs;
    return answers.map(answer =>
      answer.state === "waiting" ? { ...answer, nextTryAt, unasked: true } : answer,
    );
  }

  return {
    async route(question, signal) {
      const reach = await reachOf(context, connections, clock);
      if ("reason" in reach) return reach;
      const answer = await route(deps, question, basisOf(reach), { context, reach }, signal);
      return (await upToDate([answer], reach))[0]!;
    },
    async estimateRoute(question) {
      const reach = await reachOf(context, connections, clock);
      if ("reason" in reach) return reach;
      return estimateRoute({ db, clock }, question, basisOf(reach), { context, reach });
    },
    async ask(questions, signal) {
      const reach = await reachOf(context, connections, clock);
      const unjudged = "reason" in reach ? reach : leftOut(context, reach);
      if ("reason" in reach || unjudged) return questions.map(() => unjudged as Unjudged);
      return upToDate(await ask(deps, questions, basisOf(reach), { context, reach }, signal), reach);
    },
  };
}

/** How the agent's judge is asked, or why it is not. */
async function reachOf(
  context: JudgeContext,
  connections: Connections,
  clock: Pick<Clock, "now" | "random">,
): Promise<Reach | Unjudged> {
  const unjudged = (fault: Fault) => unjudgedBy(fault, context, clock);
  try {
    const judging = await connections.find(context.agentId);
    const judge = judging?.judge;
    if (!judging || !judge) return notConfigured;
    if (judge.keyUnreadable) return unjudged(unreadable);
    const pausedReason = judge.state?.pausedReason ?? null;
    if (pausedReason !== null) {
      const why = pausedReason.replace(/^It\b/, "it").replace(/\.$/, "");
      const reason = `The judge is paused until its connection is edited or tested with success: ${why}.`;
      return unjudged({ state: "paused", reason });
    }
    return { ...judging, judge, line: connections.lineTo(judge, judging.projectId) };
  } catch (error) {
    if (!isTransient(error)) throw error;
    return unjudged({ state: "busy", reason: "The judge was not asked: the service's database is away." });
  }
}

const notConfigured: Unjudged = {
  state: "not_configured",
  reason: "No judge is configured: give the project one in its settings, or the service by SVC_JUDGE_MODEL.",
};

const unreadable: Fault = {
  state: "paused",
  reason: "The judge is paused: its stored key was encrypted with another key and has to be entered again.",
};

function basisOf({ projectId, judge, line }: Reach): Basis {
  const { provider, url, model } = judge.connection;
  return { projectId, promptVersion: line.promptVersion, provider, url, model };
}

/** Whether the sample leaves the trace out. What somebody tries out, or runs, is always judged. */
function leftOut(
  { traceId, runId, chosen }: JudgeContext,
  { settings: { sampling } }: Reach,
): Unjudged | undefined {
  if (chosen || traceId === null || runId === null || shareOf(traceId) < sampling) return undefined;
  const percent = Number((sampling * 100).toPrecision(3));
  return {
    state: "not_sampled",
    reason: `Not sampled: ${percent} % of this agent's conversations are judged.`,
  };
}

/** The same for a trace whenever it is judged, and spread evenly over 0..1. */
function shareOf(traceId: string): number {
  return createHash("sha256").update(traceId).digest().readUInt32BE() / 2 ** 32;
}
