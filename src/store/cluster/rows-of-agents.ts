// Reads rows of several agents, such as a project's, also while a worker of a cluster is unavailable: all that were asked for, or none.
import type pg from "pg";
import { Refusal } from "../../model/refusal.ts";
import { type Database, isTransient } from "../db.ts";
import { partsOf } from "./routing.ts";

/** A query for the `"agentId"` and `name` of agents. */
type AgentsQuery = pg.QueryConfig;

const namesMax = 3;

/**
 * The rows of `query` about these agents, which a cluster asks all shards for at once. While a worker is unavailable, each place of the
 * agents is asked: then rows are in any order, and a limit holds for each place. Throws UNAVAILABLE, with their names, if some agents are
 * at that worker: the rows of the others would look like all.
 */
export async function rowsOfAgents<Row extends object>(
  db: Database,
  agents: AgentsQuery,
  query: pg.QueryConfig,
): Promise<Row[]> {
  const asked = await db.pool.query<Row>(query).catch(error => {
    if (!db.places || !isTransient(error)) throw error;
  });
  if (asked) return asked.rows;
  const found = await db.pool.query<{ agentId: string; name: string }>(agents);
  const rows: Row[] = [];
  const missing: string[] = [];
  let fault: unknown;
  const ask = async (place: Database, names: string[]) => {
    try {
      rows.push(...(await place.pool.query<Row>(query)).rows);
    } catch (error) {
      if (!isTransient(error)) throw error;
      missing.push(...names);
      fault = error;
    }
  };
  // At the same time: a worker that hangs takes 2 s for each of its places.
  const parts = await partsOf(db, found.rows);
  await Promise.all(
    parts.map(([place, ofPlace]) =>
      ask(
        place,
        ofPlace.map(({ name }) => name),
      ),
    ),
  );
  if (missing.length === 0) return rows;
  const hint = parts.length === 1 ? "Retry in a moment." : "Filter by another agent, or retry in a moment.";
  throw new Refusal("UNAVAILABLE", {
    message: unavailable(missing.sort((one, other) => one.localeCompare(other))),
    hint,
    cause: fault,
  });
}

function unavailable(names: string[]): string {
  const quoted = names.slice(0, namesMax).map(name => `“${name}”`);
  const more = names.length - quoted.length;
  const listed = [...quoted, ...(more > 0 ? [`${more} more`] : [])];
  const last = listed.pop();
  if (listed.length === 0) return `The agent ${last} is unavailable.`;
  return `The agents ${listed.join(", ")} and ${last} are unavailable.`;
}
