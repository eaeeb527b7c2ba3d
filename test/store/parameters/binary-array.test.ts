// Binary arrays mean to PostgreSQL what their text does.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { openDatabase } from "../../../src/store/db.ts";
import { type BinaryType, binaryArray } from "../../../src/store/parameters/binary-array.ts";
import { freshDatabase } from "../../support/postgres.ts";

const database = await freshDatabase();
const db = openDatabase(database.url, 1);
after(async () => {
  await db.close();
  await database.drop();
});

const id = "0192f0e4-7c1b-7def-8a3b-0123456789ab";
const cases: [BinaryType, unknown[]][] = [
  ["bool", [true, false, null]],
  ["int", [0, 1, -1, 2 ** 31 - 1, -(2 ** 31), null]],
  ["bigint", [0, -1, 2 ** 32, -(2 ** 32), 2 ** 53 - 1, -(2 ** 53) + 1, 4_294_967_295, null]],
  ["float8", [0, 0.1, -1e300, 5e-324, Number.POSITIVE_INFINITY, null]],
  ["text", ["", "a", 'quoted "{},\\', "null", "NULL", "żółć 🙂", "x".repeat(100_000), null]],
  ["bytea", [Buffer.alloc(0), Buffer.from([0, 1, 255]), null]],
  ["uuid", [id, null]],
];

for (const [type, values] of cases) {
  test(`an array of ${type} arrives as it is, with nulls, alone and empty`, async () => {
    for (const list of [values, values.slice(0, 1), [null], []]) {
      const { rows } = await db.pool.query(`select $1::${type}[] as binary, $2::${type}[] as text`, [
        binaryArray(type, list),
        list,
      ]);
      assert.deepEqual(rows[0].binary, rows[0].text);
      assert.equal(rows[0].binary.length, list.length);
    }
  });
}

test("undefined is null, and a lone surrogate arrives as U+FFFD", async () => {
  const given = binaryArray("text", [undefined, "a\ud800"]);
  const { rows } = await db.pool.query("select $1::text[] as sent", [given]);
  assert.deepEqual(rows[0].sent, [null, "a\ufffd"]);
});

test("UUIDs may have upper case, and no dashes", async () => {
  const given = binaryArray("uuid", [id.toUpperCase(), id.replaceAll("-", "")]);
  const { rows } = await db.pool.query("select $1::uuid[] as sent", [given]);
  assert.deepEqual(rows[0].sent, [id, id]);
});

test("what a type does not have is no parameter", () => {
  const wrong: [BinaryType, unknown][] = [
    ["int", 2 ** 31],
    ["int", 0.5],
    ["int", "1"],
    ["bigint", 2 ** 53],
    ["bigint", Number.NaN],
    ["uuid", ""],
    ["uuid", id.slice(1)],
    ["uuid", `${id}00`],
    ["uuid", id.replace("a", "g")],
    ["uuid", id.replace("a", "é")],
    ["text", 1],
  ];
  for (const [type, value] of wrong) {
    assert.throws(() => binaryArray(type, [value]), Error, `${type} ${String(value)}`);
  }
});

test("U+0000 in a text is refused by PostgreSQL, as it is in text format", async () => {
  const given = binaryArray("text", ["a\0b"]);
  await assert.rejects(db.pool.query("select $1::text[]", [given]), { code: "22021" });
});
