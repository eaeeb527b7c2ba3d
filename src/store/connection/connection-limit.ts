// Reads how many connections the database allows to its user.
import { openPool } from "./connect.ts";

/** What is left for ordinary users, of the server, this database and this user: the least of the three. */
export async function readConnectionLimit({ directUrl }: { directUrl: string }): Promise<number> {
  const pool = openPool(directUrl, { max: 1, connectionTimeoutMillis: 5_000 });
  try {
    // PostgreSQL 15 has no reserved_connections. A limit of -1 is none.
    const { rows } = await pool.query<{ limit: number }>(
      `select least(
         current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
           - coalesce(current_setting('reserved_connections', true)::int, 0),
         (select nullif(datconnlimit, -1) from pg_database where datname = current_database()),
         (select nullif(rolconnlimit, -1) from pg_roles where rolname = current_user)
       ) as limit`,
    );
    return rows[0]!.limit;
  } finally {
    await pool.end();
  }
}
