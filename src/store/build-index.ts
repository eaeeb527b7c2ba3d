// Builds an index while the service runs.
import type pg from "pg";

/** Without a lock that anybody waits for. One whose building was interrupted is invalid, and built again. */
export async function buildIndex(
  client: pg.Client,
  name: string,
  of: string,
  { unique = false } = {},
): Promise<void> {
  const { rows } = await client.query<{ isValid: boolean }>(
    `select indisvalid as "isValid" from pg_index where indexrelid = to_regclass($1)`,
    [name],
  );
  if (rows[0]?.isValid) return;
  if (rows[0]) await client.query(`drop index concurrently ${name}`);
  await client.query(`create ${unique ? "unique " : ""}index concurrently ${name} on ${of}`);
}
