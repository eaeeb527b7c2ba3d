// Tests a judge connection on request, and stores the result by the connection's fingerprint.
import type { JudgeConnection } from "../../model/judge/call.ts";
import { reasonText } from "../../model/run/reason-text.ts";
import { modesOf } from "../../remote/judge/models.ts";
import { type OpenProbe, probeJudge } from "../../remote/judge/probe.ts";
import { fingerprintOf, pauseJudge, resumeJudge, saveLowCount } from "../../store/judge/states.ts";
import type { Deps } from "../frame/deps.ts";
import type { JudgeTrial } from "./schemas.ts";

/** Enough for a local model to load first. */
const testMaxMs = 60_000;

export type JudgeTrialDeps = Pick<Deps, "db"> & { openProbe: OpenProbe };

/**
 * `projectId`: the owner of the connection; null: the environment. The result is stored by the connection's fingerprint,
 * so it also applies if the connection is saved later.
 */
export async function tryJudge(
  { db, openProbe }: JudgeTrialDeps,
  connection: JudgeConnection,
  projectId: string | null,
  clientGone: AbortSignal,
): Promise<JudgeTrial> {
  // A single call may take longer.
  const maxMs = Math.max(testMaxMs, connection.timeoutMs);
  const timeout = AbortSignal.timeout(maxMs);
  const clientOf = await openProbe(connection, { userSupplied: projectId !== null });
  const probe = await probeJudge(
    clientOf,
    modesOf(connection.provider),
    AbortSignal.any([timeout, clientGone]),
  );
  const fingerprint = fingerprintOf(connection, projectId);
  const { mode, systemRole, temperature } = probe;
  if (mode !== null) await resumeJudge(db, fingerprint, mode, systemRole, temperature);
  else if (probe.state === "refused") await pauseJudge(db, fingerprint, probe.reason);
  if (probe.lowCount) await saveLowCount(db, fingerprint, probe.lowCount);
  const { state, detail, systemRole: _, temperature: __, lowCount: ___, ...trial } = probe;
  if (state === "ok") return trial;
  // The timeout was reached, or the client disconnected.
  if (state === "aborted") {
    const silent = reasonText({ code: "judge_silent", data: { seconds: maxMs / 1_000 } });
    return { ...trial, reason: probe.mode === null ? silent : `${probe.reason} ${silent}`, fault: "later" };
  }
  return { ...trial, fault: detail && quotas.includes(detail.code) ? "budget" : state };
}

const quotas: string[] = ["judge_quota_exceeded", "judge_gateway_budget_exceeded"];

/** The result for a judge that cannot be called. */
export function failedTrial(reason: string): JudgeTrial {
  return { ok: false, mode: null, ms: 0, reason, fault: "refused", tried: [] };
}
