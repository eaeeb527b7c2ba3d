// The ingestion log adds up the counts of all processes, deletes them after seven days, and stays small.
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import type { IngestionAnswer } from "../../../src/model/ingestion.ts";
import { deleteProject } from "../../../src/store/accounts/projects.ts";
import type { Database } from "../../../src/store/db.ts";
import { openDatabase } from "../../../src/store/db.ts";
import { IngestionLog } from "../../../src/store/ingestion/log.ts";
import {
  addIngestion,
  deleteOldIngestion,
  findLastRejection,
  type IngestionCount,
  listIngestion,
  summarizeIngestion,
} from "../../../src/store/ingestion/minutes.ts";
import { replaceJudgePrices } from "../../../src/store/judge/prices.ts";
import { newest } from "../../../src/store/listing.ts";
import { begun, waiting } from "../locks.ts";
import { makeSender, openTwice, type Sender } from "../traces/make-write.ts";

const { url, db, other, close } = await openTwice();
after(close);

const faults: unknown[] = [];
const log = { error: (...fault: unknown[]) => void faults.push(fault) };
const openLog = (on: Database = db) => new IngestionLog(on, log);
const answer = (more: Partial<IngestionAnswer> = {}): IngestionAnswer => ({
  code: "OK",
  serviceName: "shop",
  agentId: null,
  spans: 1,
  reasons: {},
  rejection: null,
  ...more,
});
const keyOf = ({ keyId: id, projectId }: Sender) => ({ id, projectId });
const first = { before: newest, rowsMax: 100_000 };
const rowsOf = ({ projectId }: Sender) => listIngestion(db, projectId, {}, first);

/** The sums of the project's rows, whichever minutes the test falls into. */
async function sums({ projectId }: Sender) {
  const { codes } = await summarizeIngestion(db, projectId, {});
  return codes.map(({ code, requests, spans }) => [code, requests, spans]);
}

/** A row as it was written this long ago. */
async function writeAgo(sender: Sender, ago: string): Promise<void> {
  await db.pool.query(
    `insert into ingestion_minutes (id, project_id, at, code, key_id, requests, spans, reasons)
      select id_at(minute, gen_random_uuid()), $1, minute, 'OK', $2, 1, 1, '{}'
      from (select date_trunc('minute', now() - $3::interval)) as m (minute)`,
    [sender.projectId, sender.keyId, ago],
  );
}

suite("counts", () => {
  test("survive when two processes write the same rows at the same time", async () => {
    const senders = await Promise.all([makeSender(db), makeSender(db)]);
    const count = (sender: Sender, serviceName: string | null): IngestionCount => ({
      ...answer({ code: "PARTIAL", serviceName, spans: 2, reasons: { OTLP_ID_INVALID: 1 } }),
      projectId: sender.projectId,
      keyId: sender.keyId,
      requests: 3,
      rejectedAt: 0,
    });
    const counts = senders.flatMap(sender => [null, "a", "b", "c"].map(name => count(sender, name)));
    await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        addIngestion(index % 2 ? db : other, index % 3 ? counts : counts.toReversed()),
      ),
    );
    for (const sender of senders) {
      assert.deepEqual(await sums(sender), [["PARTIAL", 480, 320]]);
      const refused = (await rowsOf(sender)).reduce((sum, row) => sum + row.reasons.OTLP_ID_INVALID!, 0);
      assert.equal(refused, 160);
    }
  });

  test("are written when the log closes, one row per minute for requests with the same result", async () => {
    const sender = await makeSender(db);
    const logs = [openLog(), openLog(other)];
    for (let count = 0; count < 100; count++) {
      logs[count % 2]!.record([answer({ spans: 5 })], keyOf(sender));
      logs[count % 2]!.record([answer({ code: "VALIDATION_ERROR", spans: 0 })], keyOf(sender));
    }
    await Promise.all(logs.map(one => one.close()));
    assert.deepEqual(await sums(sender), [
      ["OK", 100, 500],
      ["VALIDATION_ERROR", 100, 0],
    ]);
    const rows = await rowsOf(sender);
    assert.equal(rows.length, 2 * new Set(rows.map(row => row.at.getTime())).size);
  });

  test("of reasons are added up by code", async () => {
    const sender = await makeSender(db);
    const one = openLog();
    const reasons = { OTLP_ID_INVALID: 2, PAYLOAD_TOO_LARGE: 1 };
    one.record([answer({ code: "PARTIAL", reasons })], keyOf(sender));
    one.record([answer({ code: "PARTIAL", reasons: { OTLP_ID_INVALID: 1 } })], keyOf(sender));
    await one.close();
    assert.deepEqual(reasons, { OTLP_ID_INVALID: 2, PAYLOAD_TOO_LARGE: 1 });
    const total: Record<string, number> = {};
    for (const row of await rowsOf(sender)) {
      for (const [code, traces] of Object.entries(row.reasons)) total[code] = (total[code] ?? 0) + traces;
    }
    assert.deepEqual(total, { OTLP_ID_INVALID: 3, PAYLOAD_TOO_LARGE: 1 });
  });

  test("of rejections keep the latest of the minute, whichever process saw it, and when it came", async () => {
    const sender = await makeSender(db);
    const rejected = (requestId: string, agoMs: number): IngestionCount => ({
      ...answer({
        code: "VALIDATION_ERROR",
        agentId: sender.agentId,
        rejection: { code: "VALIDATION_ERROR", requestId, paths: ["spans"] },
      }),
      ...{ projectId: sender.projectId, keyId: sender.keyId, requests: 1 },
      rejectedAt: performance.now() - agoMs,
    });
    await addIngestion(db, [rejected("middle", 20_000)]);
    await addIngestion(other, [rejected("latest", 10_000)]);
    await addIngestion(db, [rejected("oldest", 30_000)]);
    await addIngestion(db, [{ ...rejected("", 0), code: "OK", rejection: null }]);
    const { rows } = await db.pool.query<{ now: Date }>("select now()");
    const last = await findLastRejection(db, sender.agentId);
    assert.deepEqual([last?.requestId, last?.paths], ["latest", ["spans"]]);
    const ago = rows[0]!.now.getTime() - last!.at.getTime();
    assert.ok(ago >= 10_000 && ago < 20_000, String(ago));
  });

  test("of a deleted project do not delay those of others", async () => {
    const [gone, stays] = await Promise.all([makeSender(db), makeSender(db)]);
    await deleteProject(db, gone.projectId);
    const one = openLog();
    one.record([answer()], keyOf(gone));
    one.record([answer()], keyOf(stays));
    await one.close();
    assert.deepEqual([await sums(gone), await sums(stays)], [[], [["OK", 1, 1]]]);
  });

  test("are kept while the project's prices are saved", async () => {
    const sender = await makeSender(db);
    const lock = await begun(db);
    await lock.query("lock table judge_prices in exclusive mode", []);
    const saved = replaceJudgePrices(other, sender.projectId, []);
    await waiting(db, "delete from judge_prices");
    const one = openLog();
    one.record([answer()], keyOf(sender));
    await one.close();
    await lock.rollback();
    await saved;
    assert.deepEqual(await sums(sender), [["OK", 1, 1]]);
  });

  test("wait while the database is down, and are written once it is back", async () => {
    const sender = await makeSender(db);
    const away = openDatabase(url);
    const query = away.pool.query.bind(away.pool) as (...asked: unknown[]) => Promise<unknown>;
    let isAway = true;
    const tried = new Promise<void>(resolve => {
      const failing = async (...asked: unknown[]) => {
        if (!isAway || (asked[0] as { name?: string }).name !== "add-ingestion") return query(...asked);
        resolve();
        throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
      };
      Object.assign(away.pool, { query: failing });
    });
    const one = openLog(away);
    one.record([answer()], keyOf(sender));
    await tried;
    one.record([answer()], keyOf(sender));
    isAway = false;
    await one.close();
    assert.deepEqual(await sums(sender), [["OK", 2, 2]]);
    await away.close();
  });
});

suite("service names", () => {
  test("are listed up to 100 a minute per project; requests beyond that are counted without one", async () => {
    const [crowd, quiet] = await Promise.all([makeSender(db), makeSender(db)]);
    const one = openLog();
    for (let count = 0; count < 500; count++) {
      one.record([answer({ serviceName: `name ${count}` })], keyOf(crowd));
    }
    one.record([answer({ serviceName: "name 7" })], keyOf(crowd));
    one.record([answer()], keyOf(quiet));
    await one.close();
    const rows = await rowsOf(crowd);
    assert.deepEqual([rows.length, rows.find(row => row.serviceName === null)?.requests], [101, 400]);
    assert.equal(rows.find(row => row.serviceName === "name 7")?.requests, 2);
    assert.deepEqual(
      (await rowsOf(quiet)).map(row => row.serviceName),
      ["shop"],
    );
  });

  test("that contain the separator are not mixed up", async () => {
    const sender = await makeSender(db);
    const names = [
      null,
      "",
      "null",
      " ",
      "=",
      "'; drop table keys --",
      "{}",
      "\\",
      "\u202e",
      "NULL",
      '"',
      "a,b",
    ];
    const one = openLog();
    for (const serviceName of names) one.record([answer({ serviceName })], keyOf(sender));
    await one.close();
    const rows = await rowsOf(sender);
    assert.deepEqual(new Set(rows.map(row => row.serviceName)), new Set(names));
    assert.equal(rows.length, names.length);
  });
});

suite("rows older than seven days", () => {
  test("are deleted by the database's clock, without any younger ones", async () => {
    const sender = await makeSender(db);
    for (const ago of ["7 days 2 minutes", "30 days", "6 days 23 hours 58 minutes", "1 minute"]) {
      await writeAgo(sender, ago);
    }
    await deleteOldIngestion(db);
    const { rows } = await db.pool.query<{ days: number }>(
      `select extract(day from now() - at)::int as days from ingestion_minutes where project_id = $1 order by 1`,
      [sender.projectId],
    );
    assert.deepEqual(
      rows.map(row => row.days),
      [0, 6],
    );
  });

  test("are hidden even before they are deleted", async () => {
    const sender = await makeSender(db);
    await writeAgo(sender, "7 days 2 minutes");
    assert.deepEqual([await rowsOf(sender), await sums(sender)], [[], []]);
  });
});

suite("the list", () => {
  test("is in the order of the minutes, whenever the rows were written", async () => {
    const sender = await makeSender(db);
    for (const ago of ["3 minutes", "2 days", "1 minute", "5 hours"]) await writeAgo(sender, ago);
    const times = (await rowsOf(sender)).map(row => row.at.getTime());
    assert.equal(times.length, 4);
    assert.deepEqual(
      times,
      times.toSorted((one, other) => other - one),
    );
  });

  test("includes the minute in which its range starts, and excludes the one in which it ends", async () => {
    const sender = await makeSender(db);
    for (const ago of ["4 hours", "3 hours", "2 hours", "1 hour"]) await writeAgo(sender, ago);
    const [, late, early] = (await rowsOf(sender)).map(row => row.at);
    const range = { from: new Date(early!.getTime() + 59_999), to: new Date(late!.getTime() + 1) };
    const found = async (within: typeof range) => {
      const rows = await listIngestion(db, sender.projectId, within, first);
      const { codes } = await summarizeIngestion(db, sender.projectId, within);
      assert.equal(codes[0]?.requests ?? 0, rows.length);
      return rows.map(row => row.at);
    };
    assert.deepEqual(await found(range), [late, early]);
    assert.deepEqual(await found({ ...range, to: late! }), [early]);
    assert.deepEqual(await found({ ...range, to: new Date(0) }), []);
  });
});

test("no error was logged", () => assert.deepEqual(faults, []));
