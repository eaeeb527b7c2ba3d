// The project's own prices of judge models, in place of the built-in ones.
import type { OwnPrice } from "../../model/judge/prices.ts";
import { type Database, transaction } from "../db.ts";

const columns = `model, valid_from::text as "validFrom", input_usd as "inputUsd", output_usd as "outputUsd"`;

/** Sorted by model, latest first. */
export async function listJudgePrices(db: Database, projectId: string): Promise<OwnPrice[]> {
  const { rows } = await db.pool.query<OwnPrice>({
    name: "judge-prices",
    text: `select ${columns} from judge_prices where project_id = $1 order by model, valid_from desc`,
    values: [projectId],
  });
  return rows;
}

/** Replaces all prices of the project; each model has at most one price per day. */
export async function replaceJudgePrices(db: Database, projectId: string, prices: OwnPrice[]): Promise<void> {
  await transaction(db, async client => {
    // Locks the project, so that concurrent saves take turns.
    await client.query("select 1 from projects where id = $1 for update", [projectId]);
    await client.query("delete from judge_prices where project_id = $1", [projectId]);
    await client.query(
      `insert into judge_prices (project_id, model, valid_from, input_usd, output_usd)
        select p.id, given.* from projects p,
          unnest($2::text[], $3::date[], $4::float8[], $5::float8[]) as given
        where p.id = $1`,
      [
        projectId,
        prices.map(({ model }) => model),
        prices.map(({ validFrom }) => validFrom),
        prices.map(({ inputUsd }) => inputUsd),
        prices.map(({ outputUsd }) => outputUsd),
      ],
    );
  });
}
