// Checks the settings of sessions that Onlooker does not open itself: a pooler's, and those that Citus opens from node to node. They
// have them from the pooler or from their user, and a start changes neither: other programs may use both.
import { sessionSettings } from "./db.ts";

type Session = { query<Row extends object>(text: string, values?: unknown[]): Promise<{ rows: Row[] }> };

/** `words`: the first setting with another value. `statements`: give the user's next sessions in this database those that differ. */
export type Unmet = { words: string; statements: string };

/** Undefined if the session has these settings. */
export async function findUnmet(
  session: Session,
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
