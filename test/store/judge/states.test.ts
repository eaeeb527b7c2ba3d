// What is known of a judge connection, keyed by everything that decides its answers: an edited one starts over.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import type { Database } from "../../../src/store/db.ts";
import {
  clearWaits,
  findJudgeState,
  fingerprintOf,
  pauseJudge,
  resumeJudge,
  saveLowCount,
  saveMode,
  saveWait,
} from "../../../src/store/judge/states.ts";
import { freshDatabase, openFresh } from "../../support/postgres.ts";

let database: Awaited<ReturnType<typeof freshDatabase>>;
let db: Database;
before(async () => {
  database = await freshDatabase();
  db = openFresh(database.url);
});
after(async () => {
  await db.close();
  await database.drop();
});

const connection = { provider: "openai", url: null, model: "m", apiKey: "sk-1" } as const;

test("a fingerprint changes with whatever decides how the connection answers, and with nothing else", () => {
  const same = { ...connection, concurrency: 3, tokensPerMinute: 5 };
  const ofAll = fingerprintOf(connection, null);
  assert.deepEqual(fingerprintOf(same, null), ofAll);
  const others = [
    { ...connection, provider: "anthropic" as const },
    { ...connection, url: "https://api.openai.com/v1" },
    { ...connection, model: "n" },
    { ...connection, apiKey: "sk-2" },
    { ...connection, apiKey: null },
    { ...connection, model: 'm","sk', apiKey: "-1" },
  ].map(one => fingerprintOf(one, null).toString("hex"));
  assert.equal(new Set([...others, ofAll.toString("hex")]).size, 7);
});

test("equal connections of two projects, or of a project and the environment, have different fingerprints", () => {
  const [one, other] = [randomUUID(), randomUUID()];
  const prints = [null, one, other].map(id => fingerprintOf(connection, id).toString("hex"));
  assert.equal(new Set(prints).size, 3);
  assert.deepEqual(fingerprintOf(connection, one.toUpperCase()), fingerprintOf(connection, one));
});

test("a connection that was never asked has no state", async () => {
  assert.equal(await findJudgeState(db, fingerprintOf({ ...connection, model: "never" }, null)), undefined);
});

test("a pause lasts while calls learn, keeps its first reason, and ends with a successful connection test", async () => {
  const fingerprint = fingerprintOf(connection, null);
  await pauseJudge(db, fingerprint, "It refuses the key.");
  await pauseJudge(db, fingerprint, "It still does.");
  await saveMode(db, fingerprint, "tool");
  const paused = await findJudgeState(db, fingerprint);
  assert.equal(paused!.pausedReason, "It refuses the key.");
  assert.ok(paused!.pausedAt instanceof Date);
  assert.deepEqual([paused!.mode, paused!.testedAt], ["tool", null]);

  await resumeJudge(db, fingerprint, "json_object");
  const resumed = await findJudgeState(db, fingerprint);
  assert.deepEqual([resumed!.mode, resumed!.pausedReason, resumed!.pausedAt], ["json_object", null, null]);
  assert.ok(resumed!.testedAt instanceof Date);

  await pauseJudge(db, fingerprint, "No such model.");
  const again = await findJudgeState(db, fingerprint);
  assert.deepEqual([again!.pausedReason, again!.mode], ["No such model.", "json_object"]);
});

test("a wait is known until it is over, a test succeeds, its judge is edited, or the service restarts", async () => {
  const waitOf = async (fingerprint: Buffer) => (await findJudgeState(db, fingerprint))?.wait ?? null;
  const [one, other] = ["one", "other"].map(model => fingerprintOf({ ...connection, model }, null));
  await saveWait(db, one!, 600_000, "It answered 429.");
  const wait = await waitOf(one!);
  assert.equal(wait!.reason, "It answered 429.");
  assert.ok(Math.abs(wait!.until.getTime() - Date.now() - 600_000) < 60_000);
  await resumeJudge(db, one!, "tool");
  assert.equal(await waitOf(one!), null);

  for (const fingerprint of [one!, other!]) await saveWait(db, fingerprint, 600_000, "It answered 429.");
  await clearWaits(db, one!);
  assert.deepEqual([await waitOf(one!), (await waitOf(other!))?.reason], [null, "It answered 429."]);
  await saveWait(db, one!, 600_000, "It answered 429.");
  await clearWaits(db);
  assert.deepEqual([await waitOf(one!), await waitOf(other!)], [null, null]);
  await saveWait(db, one!, -1, "It answered 429.");
  assert.equal(await waitOf(one!), null);
});

test("a connection with headers of its own is another one", () => {
  const prints = [undefined, [], [{ name: "x", value: "1" }], [{ name: "x", value: "2" }]].map(headers =>
    fingerprintOf({ ...connection, ...(headers && { headers }) }, null).toString("hex"),
  );
  assert.equal(prints[0], prints[1]);
  assert.equal(new Set(prints).size, 3);
});

test("a low count of tokens is kept with its time until a test of the connection succeeds", async () => {
  const fingerprint = fingerprintOf({ ...connection, model: "cut" }, null);
  await saveLowCount(db, fingerprint, { counted: 900, sent: 9_000 });
  await saveLowCount(db, fingerprint, { counted: 4_096, sent: 14_000 });
  await saveMode(db, fingerprint, "tool");
  const { lowCount, mode } = (await findJudgeState(db, fingerprint))!;
  assert.deepEqual([lowCount?.counted, lowCount?.sent, mode], [4_096, 14_000, "tool"]);
  assert.ok(Math.abs(Date.now() - lowCount!.at.getTime()) < 60_000);
  await resumeJudge(db, fingerprint, "tool");
  assert.equal((await findJudgeState(db, fingerprint))!.lowCount, null);
});
