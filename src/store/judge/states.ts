// The state of a judge connection (output mode, pause), by a fingerprint of provider, URL, model and key.
import { createHash } from "node:crypto";
import type { JudgeConnection, JudgeMode, TokenCount } from "../../model/judge/call.ts";
import type { Database } from "../db.ts";

/** `mode` null: not known yet. `pausedReason`: why it is not called until it is edited or tested successfully. */
export type JudgeState = {
  mode: JudgeMode | null;
  /** Whether the model takes a system role. */
  systemRole: boolean;
  /** Whether it takes temperature 0. */
  temperature: boolean;
  testedAt: Date | null;
  pausedReason: string | null;
  pausedAt: Date | null;
  /** Until when its server asked not to be called, in the future, and what it said. */
  wait: { until: Date; reason: string } | null;
  /** When its server last counted far fewer tokens than were sent; null: never, or it was tested successfully since. */
  lowCount: (TokenCount & { at: Date }) | null;
};

type Identity = Pick<JudgeConnection, "provider" | "url" | "model" | "apiKey" | "headers">;

/**
 * 32 bytes that do not reveal the key. Includes the project (null for the environment's judge), so a pause caused by one
 * project does not affect another with the same URL and key.
 */
export function fingerprintOf(
  { provider, url, model, apiKey, headers = [] }: Identity,
  projectId: string | null,
): Buffer {
  const own = headers.length > 0 ? [headers.map(({ name, value }) => [name, value])] : [];
  return createHash("sha256")
    .update(JSON.stringify([provider, url, model, apiKey, projectId?.toLowerCase() ?? null, ...own]))
    .digest();
}

/** Undefined for a connection that was never called. */
export async function findJudgeState(db: Database, fingerprint: Buffer): Promise<JudgeState | undefined> {
  type Row = Omit<JudgeState, "wait" | "lowCount"> & {
    wait: { until: string; reason: string } | null;
    lowCount: (TokenCount & { at: string }) | null;
  };
  const { rows } = await db.pool.query<Row>({
    name: "judge-state",
    text: `select mode, system_role as "systemRole", temperature, tested_at as "testedAt", paused_reason as "pausedReason", paused_at as "pausedAt",
        case when wait_until > now() then json_build_object('until', wait_until, 'reason', wait_reason) end as wait,
        case when low_count_at is not null then
          json_build_object('at', low_count_at, 'counted', low_count_counted, 'sent', low_count_sent)
        end as "lowCount"
      from judge_states where fingerprint = $1`,
    values: [fingerprint],
  });
  const [row] = rows;
  return (
    row && {
      ...row,
      wait: row.wait && { ...row.wait, until: new Date(row.wait.until) },
      lowCount: row.lowCount && { ...row.lowCount, at: new Date(row.lowCount.at) },
    }
  );
}

/** Stores the output mode that a call found. */
export async function saveMode(
  db: Database,
  fingerprint: Buffer,
  mode: JudgeMode,
  systemRole = true,
  temperature = true,
): Promise<void> {
  await db.pool.query(
    `insert into judge_states (fingerprint, mode, system_role, temperature) values ($1, $2, $3, $4)
      on conflict (fingerprint) do update set mode = excluded.mode, system_role = excluded.system_role,
        temperature = excluded.temperature`,
    [fingerprint, mode, systemRole, temperature],
  );
}

/** `reason` is a sentence for the user who can fix it. While paused, the first reason is kept. */
export async function pauseJudge(db: Database, fingerprint: Buffer, reason: string): Promise<void> {
  await db.pool.query(
    `insert into judge_states as known (fingerprint, paused_reason, paused_at) values ($1, $2, now())
      on conflict (fingerprint) do update set
        paused_reason = coalesce(known.paused_reason, excluded.paused_reason),
        paused_at = coalesce(known.paused_at, excluded.paused_at)`,
    [fingerprint, reason],
  );
}

/** After a successful test: stores what works and ends the pause. */
export async function resumeJudge(
  db: Database,
  fingerprint: Buffer,
  mode: JudgeMode,
  systemRole = true,
  temperature = true,
): Promise<void> {
  await db.pool.query(
    `insert into judge_states (fingerprint, mode, system_role, temperature, tested_at) values ($1, $2, $3, $4, now())
      on conflict (fingerprint) do update set mode = excluded.mode, system_role = excluded.system_role,
        temperature = excluded.temperature, tested_at = now(), paused_reason = null, paused_at = null, wait_until = null, wait_reason = null,
        low_count_at = null, low_count_counted = null, low_count_sent = null`,
    [fingerprint, mode, systemRole, temperature],
  );
}

/** Stores what the server asked, to be shown: each process keeps to it on its own. */
export async function saveWait(db: Database, fingerprint: Buffer, ms: number, reason: string): Promise<void> {
  await db.pool.query(
    `insert into judge_states (fingerprint, wait_until, wait_reason)
      values ($1, now() + $2::float8 * interval '1 ms', $3)
      on conflict (fingerprint) do update set wait_until = excluded.wait_until, wait_reason = excluded.wait_reason`,
    [fingerprint, ms, reason],
  );
}

export async function saveLowCount(
  db: Database,
  fingerprint: Buffer,
  { counted, sent }: TokenCount,
): Promise<void> {
  await db.pool.query(
    `insert into judge_states (fingerprint, low_count_at, low_count_counted, low_count_sent) values ($1, now(), $2, $3)
      on conflict (fingerprint) do update set low_count_at = excluded.low_count_at,
        low_count_counted = excluded.low_count_counted, low_count_sent = excluded.low_count_sent`,
    [fingerprint, counted, sent],
  );
}

/** Of one judge that was saved again, or of all after a restart. */
export async function clearWaits(db: Database, fingerprint?: Buffer): Promise<void> {
  await db.pool.query(
    `update judge_states set wait_until = null, wait_reason = null
      where wait_until is not null and ($1::bytea is null or fingerprint = $1)`,
    [fingerprint ?? null],
  );
}
