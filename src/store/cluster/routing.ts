// Where the rows of agents are stored: in one database, or on a cluster at a node of each agent.
import type pg from "pg";
import { type Database, isTransient, type Places } from "../db.ts";

/** For what looks for rows of any agents, and is no statement that a cluster answers at once. */
export async function allPlaces(db: Database): Promise<Database[]> {
  return db.places ? db.places.all() : [db];
}

/** The same without those at workers that are unavailable, for work that comes back to them. */
export async function availablePlaces(db: Database): Promise<Database[]> {
  return db.places ? db.places.available() : [db];
}

/**
 * The rows of a query about all agents, which a cluster asks all shards at once; while a worker is unavailable, those of the
 * other agents, in any order. A limit holds for each group of shards then.
 */
export async function availableRows<Row extends object>(db: Database, query: pg.QueryConfig): Promise<Row[]> {
  const asked = await db.pool.query<Row>(query).catch(error => {
    if (!db.places || !isTransient(error)) throw error;
  });
  return asked ? asked.rows : rowsOfAvailable(db, query);
}

async function rowsOfAvailable<Row extends object>(db: Database, query: pg.QueryConfig): Promise<Row[]> {
  const rows: Row[] = [];
  for (const place of await availablePlaces(db)) rows.push(...(await place.pool.query<Row>(query)).rows);
  return rows;
}

/**
 * The database of this agent: its traces, runs and what else grows with them, and copies of what they refer to (accounts,
 * projects, agents, keys, tests), to be read and locked only. What only the coordinator has is not there.
 */
export async function placeOf(db: Database, agentId: string): Promise<Database> {
  return db.places ? (await db.places.of([agentId])).get(agentId)! : db;
}

/** The databases of the agents (`"agentId"`) that a query finds, in its order. On one server it is the one, unasked. */
export async function placesFound(db: Database, query: pg.QueryConfig): Promise<Database[]> {
  if (!db.places) return [db];
  const { rows } = await db.pool.query<{ agentId: string }>(query);
  return placesOf(db.places, rows);
}

/** The same, for work that comes back: without those at a worker that is unavailable. */
export async function availablePlacesFound(db: Database, query: pg.QueryConfig): Promise<Database[]> {
  if (!db.places) return [db];
  return placesOf(db.places, await availableRows<{ agentId: string }>(db, query));
}

async function placesOf(places: Places, rows: { agentId: string }[]): Promise<Database[]> {
  const found = await places.of(rows.map(({ agentId }) => agentId));
  return [...new Set(found.values())];
}

/** The databases of a project's agents. */
export function placesOfProject(db: Database, projectId: string): Promise<Database[]> {
  return placesFound(db, {
    name: "agents_of_project",
    text: `select id as "agentId" from agents where project_id = $1`,
    values: [projectId],
  });
}

type Part<T> = [place: Database, part: T[]];

/** The items in the databases of their agents. On one server it is one part. */
export async function partsOf<T extends { agentId: string }>(db: Database, items: T[]): Promise<Part<T>[]> {
  if (!db.places) return [[db, items]];
  const found = await db.places.of(items.map(({ agentId }) => agentId));
  return [...Map.groupBy(items, ({ agentId }) => found.get(agentId)!)];
}

/** Tables whose rows are looked for by their ids alone. */
type Table = "traces" | "queue" | "runs" | "launches" | "backtests" | "labels" | "test_cases";

/** The ids of rows in the databases of their agents, which a cluster is asked for once. Others are left out there. */
export async function partsOfRows(db: Database, table: Table, ids: string[]): Promise<Part<string>[]> {
  if (!db.places) return [[db, ids]];
  const query = lookUp(table, ids);
  const { rows } = await db.pool.query<Found>(query).catch(async error => {
    if (isTransient(error)) return { rows: await askEach(db, query, ids, error) };
    throw error;
  });
  return partsOfFound(db, rows);
}

/** The same, without those that may be at a worker that is unavailable: `unknown`. */
export async function availablePartsOfRows(
  db: Database,
  table: Table,
  ids: string[],
): Promise<{ parts: Part<string>[]; unknown: string[] }> {
  if (!db.places) return { parts: [[db, ids]], unknown: [] };
  const query = lookUp(table, ids);
  const asked = await db.pool.query<Found>(query).catch(error => {
    if (!isTransient(error)) throw error;
  });
  if (asked) return { parts: await partsOfFound(db, asked.rows), unknown: [] };
  const rows = await rowsOfAvailable<Found>(db, query);
  const found = new Set(rows.map(({ id }) => id));
  return { parts: await partsOfFound(db, rows), unknown: ids.filter(id => !found.has(id)) };
}

type Found = { id: string; agentId: string };

function lookUp(table: Table, ids: string[]): pg.QueryConfig {
  return {
    name: `agents_of_${table}`,
    // A run that has not ended is in the queue.
    text: (table === "runs" ? ["runs", "queue"] : [table])
      .map(name => `select id, agent_id as "agentId" from ${name} where id = any ($1::uuid[])`)
      .join(" union all "),
    values: [ids],
  };
}

async function partsOfFound(db: Database, rows: Found[]): Promise<Part<string>[]> {
  const parts = await partsOf(db, rows);
  return parts.map(([place, part]) => [place, part.map(({ id }) => id)]);
}

/** While a worker is unavailable, all rows may be elsewhere. If not, whether they exist is unknown. */
async function askEach(db: Database, query: pg.QueryConfig, ids: string[], fault: Error): Promise<Found[]> {
  const ask = async (place: Database): Promise<Found[]> => {
    try {
      return (await place.pool.query<Found>(query)).rows;
    } catch (error) {
      if (!isTransient(error)) throw error;
      return [];
    }
  };
  // At the same time: a worker that is away takes 2 s for each group of shards that it has.
  const found = (await Promise.all((await allPlaces(db)).map(ask))).flat();
  if (new Set(found.map(({ id }) => id)).size < new Set(ids).size) throw fault;
  return found;
}

/** The database that has this row, or any if it does not exist. */
export async function placeOfRow(db: Database, table: Table, id: string): Promise<Database> {
  if (!db.places) return db;
  const [part] = await partsOfRows(db, table, [id]);
  return part ? part[0] : (await db.places.all())[0]!;
}
