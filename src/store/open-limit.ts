// How many of something an owner may have unfinished, also if several begin at the same time.
import type pg from "pg";
import type { Refusal } from "../model/refusal.ts";
import type { Session } from "./db.ts";

export type OpenLimit = {
  /** Throws if the owner has as many as it may have. */
  requireRoom(pool: Session, ownerId: string): Promise<void>;
  /**
   * Call it last in the transaction that inserts one: those that begin at the same time are counted one after the other, and none
   * waits while another inserts. Throws if the owner has more than it may have.
   */
  requireStillRoom(client: pg.PoolClient, ownerId: string): Promise<void>;
};

type OpenLimitOptions = {
  max: number;
  /** Of `advisoryLockSeeds`. */
  seed: number;
  /** Counts as `count` what the owner `$1` has. */
  countSql: string;
  refusal: () => Refusal;
};

export function openLimit({ max, seed, countSql, refusal }: OpenLimitOptions): OpenLimit {
  const count = async (client: Pick<pg.PoolClient, "query">, ownerId: string) => {
    const { rows } = await client.query<{ count: number }>(countSql, [ownerId]);
    return rows[0]!.count;
  };
  return {
    async requireRoom(pool, ownerId) {
      if ((await count(pool, ownerId)) >= max) throw refusal();
    },
    async requireStillRoom(client, ownerId) {
      await client.query("select pg_advisory_xact_lock(hashtextextended($1, $2))", [ownerId, seed]);
      if ((await count(client, ownerId)) > max) throw refusal();
    },
  };
}
