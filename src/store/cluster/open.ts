// Opens the database for the functions of the store: the one server, or the coordinator of a cluster with the places of its agents.
import { type Addresses, type OpenDatabase, openDatabase } from "../db.ts";
import { Shards, type ShardsOptions } from "./groups.ts";

/**
 * A statement about several agents that Citus plans takes one connection to each worker: with as many as Citus would use, the
 * sessions of a service would need 16 times as many.
 */
const clusterOptions = "-c citus.max_adaptive_executor_pool_size=1";

/** On a cluster there are as many connections to each worker, besides those to the coordinator. */
export function openStore(
  { url, pooled, distributed = false }: Addresses,
  connectionsMax?: number,
  { answerMs, log }: Pick<ShardsOptions, "answerMs" | "log"> = {},
): OpenDatabase {
  const limits = answerMs === undefined ? {} : { answerMs };
  if (!distributed) return openDatabase(url, connectionsMax, { ...limits, pooled });
  const db = openDatabase(url, connectionsMax, { ...limits, sessionOptions: clusterOptions });
  const places = new Shards({
    db,
    url,
    ...limits,
    ...(connectionsMax && { connectionsMax }),
    ...(log && { log }),
  });
  return {
    ...db,
    places,
    async close() {
      await Promise.all([places.close(), db.close()]);
    },
  };
}
