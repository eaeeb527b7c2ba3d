// Statements: answered as promises and callbacks, ended by their timeout, and gone from memory once they are answered.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { getHeapSpaceStatistics } from "node:v8";
import pg from "pg";
import { LightClient, type LightConfig, readTimeout } from "../../../src/store/connection/light-client.ts";
import { freshDatabase } from "../../support/postgres.ts";

const database = await freshDatabase();
const clients: pg.Client[] = [];
after(async () => {
  await Promise.all(clients.map(client => client.end()));
  await database.drop();
});

async function connected(options: LightConfig = {}): Promise<LightClient> {
  const client = new LightClient({ connectionString: database.url, ...options });
  clients.push(client);
  await client.connect();
  return client;
}

test("every form of a statement is answered, and its configuration stays as it was", async () => {
  const client = await connected({ answerMs: 10_000 });
  const config = Object.freeze({ name: "sum", text: "select $1::int + 1 as sum", values: [1] });
  assert.deepEqual((await client.query(config)).rows, [{ sum: 2 }]);
  assert.deepEqual((await client.query(config.text, [2])).rows, [{ sum: 3 }]);
  assert.deepEqual((await client.query({ text: config.text }, [3])).rows, [{ sum: 4 }]);
  assert.deepEqual((await client.query("select 5 as sum")).rows, [{ sum: 5 }]);
  const { rows } = await new Promise<pg.QueryResult>((resolve, reject) => {
    client.query(config, (error: Error | undefined, result: pg.QueryResult) =>
      error ? reject(error) : resolve(result),
    );
  });
  assert.deepEqual(rows, [{ sum: 2 }]);
  const submitted = new pg.Query("select 6 as sum");
  const row = new Promise(resolve => submitted.on("row", resolve));
  client.query(submitted);
  assert.deepEqual(await row, { sum: 6 });
  assert.throws(() => client.query(null as unknown as string), /null or undefined/);
});

test("an error says who asked", async () => {
  const client = await connected();
  const error = await client.query("select 1 / 0").catch((error: pg.DatabaseError) => error);
  assert.equal((error as pg.DatabaseError).code, "22012");
  assert.match((error as pg.DatabaseError).stack!, /light-client\.test\.ts/);
});

test("a statement without an answer in time fails, once, and what it answers later is dropped", async () => {
  const client = await connected({ answerMs: 50 });
  let answers = 0;
  await new Promise<void>(resolve => {
    client.query("select pg_sleep(0.2)", (error: Error) => {
      answers++;
      assert.equal(error.message, readTimeout);
      resolve();
    });
  });
  const own = { text: "select pg_sleep(0.2)", answerMs: 10_000 } as pg.QueryConfig;
  assert.equal(
    (await client.query(own)).rowCount,
    1,
    "its own timeout counts, and it follows the one before",
  );
  assert.equal(answers, 1);
});

test("nothing of an answered statement is promoted to V8's old generation", async () => {
  const promoted = () =>
    getHeapSpaceStatistics().find(({ space_name }) => space_name === "old_space")!.space_used_size;
  let kept: unknown;
  const fillYoung = (objects: number) => {
    for (let at = 0; at < objects; at++) kept = [at, at, at, at];
    return kept;
  };
  const bytes = async (client: pg.Client) => {
    const ask = async (times: number) => {
      for (let at = 0; at < times; at++) {
        const values = Array.from({ length: 40 }, () => Buffer.allocUnsafe(8));
        await client.query({ name: "count", text: `select ${parameters} as counted`, values });
        fillYoung(500);
      }
    };
    await ask(300);
    fillYoung(2_000_000);
    const before = promoted();
    await ask(1_000);
    fillYoung(2_000_000);
    return (promoted() - before) / 1_000;
  };
  const parameters = Array.from({ length: 40 }, (_, at) => `$${at + 1}::bytea is null`).join(" and ");
  const light = await bytes(await connected({ answerMs: 10_000 }));
  assert.ok(light < 1_000, `${light} bytes a statement`);
});
