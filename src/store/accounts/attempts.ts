// Counts attempts in windows of time, for rate limits that hold for all nodes together.
import { createHash } from "node:crypto";
import type { Database } from "../db.ts";
import { gather } from "../ingestion/gather.ts";

/** What the counted attempts have in common. Of `subject`, only a hash is stored, by whose beginning its first part is found. */
export type Counted = { kind: string; subject: string[] };
export type Attempt = Counted & { windowSeconds: number };

/** How many attempts there were in the window, and after how many seconds it ends. */
export type Count = { count: number; endsInSeconds: number };

const sweptMax = 20;

/** Counts one attempt. */
export async function countAttempt(db: Database, attempt: Attempt): Promise<Count> {
  const [count] = await countAttempts(db, [{ ...attempt, times: 1 }]);
  return count!;
}

/**
 * Counts attempts of one kind, in one statement for all that were made while the last one ran: a flood must not occupy the
 * database.
 */
export function gatherAttempts(
  db: Database,
  given: { kind: string; windowSeconds: number },
): (subject: string) => Promise<Count> {
  let number = 0;
  const count = gather<Count>(
    async tickets => {
      const groups = [...Map.groupBy(tickets, ticket => ticket.slice(ticket.indexOf(" ") + 1))];
      const counts = await countAttempts(
        db,
        groups.map(([subject, { length: times }]) => ({ ...given, subject: [subject], times })),
      );
      return new Map(
        groups.flatMap(([, made], at) => {
          const { count, endsInSeconds } = counts[at]!;
          const before = count - made.length;
          return made.map((ticket, index) => [ticket, { count: before + index + 1, endsInSeconds }] as const);
        }),
      );
    },
    { roundsMax: 1, keysMax: 1_024 },
  );
  return subject => count(`${number++} ${subject}`) as Promise<Count>;
}

/** Counts many attempts in one statement; their subjects must differ. The counts are in the order of the attempts. */
async function countAttempts(db: Database, attempts: (Attempt & { times: number })[]): Promise<Count[]> {
  const hashed = attempts.map(attempt => ({ ...attempt, hash: hashOf(attempt.subject) }));
  const { rows } = await db.pool.query<{ kind: string; subject: Buffer; count: number; ends_in: number }>(
    // In the order of their keys, so that two processes never wait for each other.
    `with counted as (
       select * from unnest($1::text[], $2::bytea[], $3::int[], $4::float8[])
         as c (kind, subject, times, seconds)
       order by kind, subject
     ), swept as (
       delete from attempts where (kind, subject) in (
         select kind, subject from attempts a
         where ends_at < now() and not exists
           (select from counted c where c.kind = a.kind and c.subject = a.subject)
         order by ends_at limit ${sweptMax} for update skip locked
       )
     )
     insert into attempts as a (kind, subject, count, ends_at)
     select kind, subject, times, now() + make_interval(secs => seconds) from counted
     on conflict (kind, subject) do update set
       count = case when a.ends_at < now() then excluded.count else a.count + excluded.count end,
       ends_at = case when a.ends_at < now() then excluded.ends_at else a.ends_at end
     returning kind, subject, count, ceil(extract(epoch from ends_at - now()))::int as ends_in`,
    [
      hashed.map(({ kind }) => kind),
      hashed.map(({ hash }) => hash),
      hashed.map(({ times }) => times),
      hashed.map(({ windowSeconds }) => windowSeconds),
    ],
  );
  return hashed.map(({ kind, hash }) => {
    const { count, ends_in } = rows.find(row => row.kind === kind && row.subject.equals(hash))!;
    return { count, endsInSeconds: Math.max(1, ends_in) };
  });
}

/** Whether an attempt was counted whose window has not ended. */
export async function hasAttempt(db: Database, { kind, subject }: Counted): Promise<boolean> {
  const { rowCount } = await db.pool.query(
    "select from attempts where kind = $1 and subject = $2 and ends_at > now()",
    [kind, hashOf(subject)],
  );
  return rowCount === 1;
}

/** Takes one attempt back, as if it had not been made. */
export async function uncountAttempt(db: Database, { kind, subject }: Counted): Promise<void> {
  await db.pool.query("update attempts set count = greatest(0, count - 1) where kind = $1 and subject = $2", [
    kind,
    hashOf(subject),
  ]);
}

/** Deletes what was counted of these kinds for subjects with this first part. */
export async function deleteAttempts(db: Database, kinds: string[], first: string): Promise<void> {
  const beginning = halfHash([first]);
  await db.pool.query("delete from attempts where kind = any ($1::text[]) and subject between $2 and $3", [
    kinds,
    beginning,
    Buffer.concat([beginning, Buffer.alloc(16, 0xff)]),
  ]);
}

function hashOf(subject: string[]): Buffer {
  return Buffer.concat([halfHash(subject.slice(0, 1)), halfHash(subject)]);
}

function halfHash(parts: string[]): Buffer {
  return createHash("sha256").update(JSON.stringify(parts)).digest().subarray(0, 16);
}
