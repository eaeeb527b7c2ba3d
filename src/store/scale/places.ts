// Where the traces of agents are stored, with everything that belongs to them.
import type { Database } from "../db.ts";

export type Places = {
  /** The database of each of these agents. Statements about agents with the same one can be one statement. */
  of(agentIds: Iterable<string>): Promise<Map<string, Database>>;
};
