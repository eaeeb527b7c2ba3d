// The project's own prices of models, in place of the built-in ones.
import type { OwnPrice } from "../../model/price/rates.ts";
import { referenceTransaction } from "../cluster/references.ts";
import type { Database } from "../db.ts";
import { multiRow } from "../parameters/multi-row.ts";

const columns = `model, valid_from::text as "validFrom", input_usd as "inputUsd", output_usd as "outputUsd",
  cached_usd as "cachedUsd", cache_write_usd as "cacheWriteUsd"`;

/** Of the agent's project, for the cost of its traces. */
export async function listPricesOfAgent(db: Database, agentId: string): Promise<OwnPrice[]> {
  const { rows } = await db.pool.query<OwnPrice>({
    name: "prices-of-agent",
    text: `select ${columns} from agents a join judge_prices p using (project_id) where a.id = $1`,
    values: [agentId],
  });
  return rows;
}

/** Sorted by model, latest first. */
export async function listJudgePrices(db: Database, projectId: string): Promise<Required<OwnPrice>[]> {
  const { rows } = await db.pool.query<Required<OwnPrice>>({
    name: "judge-prices",
    text: `select ${columns} from judge_prices where project_id = $1 order by model, valid_from desc`,
    values: [projectId],
  });
  return rows;
}

const priceRows = multiRow<OwnPrice>(2, {
  model: ["text", ({ model }) => model],
  valid_from: ["date", ({ validFrom }) => validFrom],
  input_usd: ["float8", ({ inputUsd }) => inputUsd],
  output_usd: ["float8", ({ outputUsd }) => outputUsd],
  cached_usd: ["float8", ({ cachedUsd }) => cachedUsd ?? null],
  cache_write_usd: ["float8", ({ cacheWriteUsd }) => cacheWriteUsd ?? null],
});

/** Replaces all prices of the project; each model has at most one price per day. */
export async function replaceJudgePrices(db: Database, projectId: string, prices: OwnPrice[]): Promise<void> {
  await referenceTransaction(db, async client => {
    // Locks the project, so that concurrent saves take turns.
    await client.query("select 1 from projects where id = $1 for no key update", [projectId]);
    await client.query("delete from judge_prices where project_id = $1", [projectId]);
    await client.query(
      `insert into judge_prices (project_id, model, valid_from, input_usd, output_usd, cached_usd, cache_write_usd)
        select p.id, item.* from projects p, ${priceRows.from}
        where p.id = $1`,
      [projectId, ...priceRows.values(prices)],
    );
  });
}
