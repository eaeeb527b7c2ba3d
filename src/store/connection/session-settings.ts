// The settings of sessions, and whether those that Onlooker does not open itself have them: a pooler's, and those that Citus opens from
// node to node. They have them from the pooler or from their user, and a start changes neither: other programs may use both.
import type pg from "pg";

export const answerMsDefault = 15_000;

/**
 * The settings of every session. Every query reaches its rows through an index: without statistics of a table that has
 * just grown, the planner chose otherwise. To load 32 of 4,400 traces it read all batches (17 ms instead of 0.3 ms), to
 * claim 32 runs it sorted all that were due. Plans that do not depend on statistics are worth more than the best plan on
 * most days.
 */
export const sessionSettings: Readonly<Record<string, string>> = {
  statement_timeout: String(answerMsDefault),
  lock_timeout: "5000",
  TimeZone: "UTC",
  enable_seqscan: "off",
  enable_bitmapscan: "off",
  jit: "off",
  max_parallel_workers_per_gather: "0",
};

/** `words`: the first setting with another value. `statements`: give the user's next sessions in this database those that differ. */
export type Unmet = { words: string; statements: string };

/** Undefined if the session has these settings. */
export async function findUnmet(
  session: Pick<pg.ClientBase, "query">,
  settings: Readonly<Record<string, string>> = sessionSettings,
): Promise<Unmet | undefined> {
  const { rows } = await session.query<{ name: string; setting: string; of: string }>(
    `select name, setting, format('alter role %I in database %I', current_user, current_database()) as of
     from pg_settings where name = any ($1) order by name`,
    [Object.keys(settings)],
  );
  const wrong = rows.filter(({ name, setting }) => setting !== settings[name]);
  if (!wrong[0]) return undefined;
  const { name, setting } = wrong[0];
  return {
    words: `${name} is ${setting} instead of ${settings[name]}`,
    statements: wrong.map(({ name, of }) => `${of} set ${name} = '${settings[name]}';`).join(" "),
  };
}
