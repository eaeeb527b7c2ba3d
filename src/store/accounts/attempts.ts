// Counts attempts in windows of time, for rate limits that hold for all nodes together.
import { createHash } from "node:crypto";
import type { Database } from "../db.ts";

/** `subject`: what the counted attempts have in common. Only its hash is stored. */
export type Attempt = { kind: string; subject: string[]; windowSeconds: number };

const sweptMax = 20;

/** Counts one attempt and returns how many there were in the window, and after how many seconds the window ends. */
export async function countAttempt(
  db: Database,
  { kind, subject, windowSeconds }: Attempt,
): Promise<{ count: number; endsInSeconds: number }> {
  const { rows } = await db.pool.query<{ count: number; ends_in: number }>(
    `with swept as (
       delete from attempts where (kind, subject) in (
         select kind, subject from attempts
         where ends_at < now() and (kind, subject) <> ($1, $2)
         order by ends_at limit ${sweptMax} for update skip locked
       )
     )
     insert into attempts as a (kind, subject, count, ends_at)
     values ($1, $2, 1, now() + make_interval(secs => $3))
     on conflict (kind, subject) do update set
       count = case when a.ends_at < now() then 1 else a.count + 1 end,
       ends_at = case when a.ends_at < now() then excluded.ends_at else a.ends_at end
     returning count, ceil(extract(epoch from ends_at - now()))::int as ends_in`,
    [kind, hashOf(subject), windowSeconds],
  );
  const { count, ends_in } = rows[0]!;
  return { count, endsInSeconds: Math.max(1, ends_in) };
}

/** Takes one attempt back, as if it had not been made. */
export async function uncountAttempt(
  db: Database,
  { kind, subject }: Omit<Attempt, "windowSeconds">,
): Promise<void> {
  await db.pool.query("update attempts set count = greatest(0, count - 1) where kind = $1 and subject = $2", [
    kind,
    hashOf(subject),
  ]);
}

function hashOf(subject: string[]): Buffer {
  return createHash("sha256").update(JSON.stringify(subject)).digest();
}
