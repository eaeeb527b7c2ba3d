// The keys that traces were sent with, read again inside the transaction that stores them.
import type pg from "pg";
import { Refusal } from "../../model/refusal.ts";
import type { TraceWrite } from "./write.ts";

/** Keys that are neither revoked nor expired. `for key share` makes a revocation wait for the commit. */
export async function liveKeys(client: pg.PoolClient, writes: TraceWrite[]): Promise<Set<string>> {
  const { rows } = await client.query<{ id: string }>({
    name: "live_keys",
    text: "select id from keys where id = any ($1::uuid[]) and (expires_at is null or expires_at > now()) for key share",
    values: [keyIdsOf(writes)],
  });
  return new Set(rows.map(row => row.id));
}

/** For a key that was revoked or expired between its check and the commit. */
export function revoked(): Refusal {
  return new Refusal("UNAUTHORIZED", {
    message: "This API key is no longer valid.",
    hint: "Send a key that is neither revoked nor expired in the header x-api-key.",
  });
}

/** Without repetitions. */
export function keyIdsOf(writes: TraceWrite[]): string[] {
  return [...new Set(writes.flatMap(({ keyId }) => keyId ?? []))];
}
