// A trial of a judge at the press of a button: its answer is told, and what was learned kept of that very connection.
import type { JudgeConnection } from "../../model/judge/call.ts";
import { modesOf } from "../../remote/judge/models.ts";
import { probeJudge } from "../../remote/judge/probe.ts";
import type { OpenTrialLine } from "../../remote/judge/trial.ts";
import { fingerprintOf, pauseJudge, resumeJudge } from "../../store/judge/states.ts";
import type { Deps } from "../deps.ts";
import type { JudgeTrial } from "./schemas.ts";

/** Nobody watches a button for longer; a model on someone's own machine may have to be loaded first. */
const patienceMs = 60_000;

export type JudgeTrialDeps = Pick<Deps, "db"> & { openTrialLine: OpenTrialLine };

/**
 * `projectId`: whose connection it is; null: the environment's. What is learned is kept by its fingerprint: it holds
 * once that very connection is saved, too.
 */
export async function tryJudge(
  { db, openTrialLine }: JudgeTrialDeps,
  connection: JudgeConnection,
  projectId: string | null,
  gone: AbortSignal,
): Promise<JudgeTrial> {
  const late = AbortSignal.timeout(patienceMs);
  const lineOf = await openTrialLine(connection, { typed: projectId !== null });
  const probe = await probeJudge(lineOf, modesOf(connection.provider), AbortSignal.any([late, gone]));
  const fingerprint = fingerprintOf(connection, projectId);
  if (probe.mode !== null) await resumeJudge(db, fingerprint, probe.mode);
  else if (probe.state === "refused") await pauseJudge(db, fingerprint, probe.reason);
  const { state, ...trial } = probe;
  if (state === "ok") return { ...trial, fault: probe.ok ? null : "misjudged" };
  // It went on for too long, or whoever asked went away.
  if (state === "aborted") return { ...trial, reason: tooLate, fault: "later" };
  return { ...trial, fault: state };
}

const tooLate = `It did not answer within ${patienceMs / 1_000} s.`;

/** Of one that could not be asked. */
export function failedTrial(reason: string): JudgeTrial {
  return { ok: false, mode: null, ms: 0, reason, fault: "refused", tried: [] };
}
