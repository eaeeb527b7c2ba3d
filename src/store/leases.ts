// Leases on work in the background that one process at a time does, such as deleting old traces.
import type { Database } from "./db.ts";

/** `holder`: a UUID of the process. */
export type Lease = { name: string; holder: string };

/** Takes the lease, or extends it; false if another process has it. */
export async function holdLease(db: Database, { name, holder }: Lease, forMs: number): Promise<boolean> {
  const { rowCount } = await db.pool.query({
    name: "hold_lease",
    text: `insert into leases (name, holder, held_until) values ($1, $2, now() + $3::float8 * interval '1 ms')
      on conflict (name) do update set holder = excluded.holder, held_until = excluded.held_until
      where leases.holder = excluded.holder or leases.held_until <= now()`,
    values: [name, holder, forMs],
  });
  return rowCount === 1;
}

/** Ends the lease, if the process has it. */
export async function releaseLease(db: Database, { name, holder }: Lease): Promise<void> {
  await db.pool.query("update leases set held_until = now() where name = $1 and holder = $2", [name, holder]);
}
