// An erasure continues after a restart and when its process died, is done once, and finds the pseudonyms of an ID.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { ErasureWork } from "../../src/jobs/erase/steps.ts";
import { erase } from "../../src/jobs/erase.ts";
import { startJob } from "../../src/jobs/job.ts";
import { openLog } from "../../src/log.ts";
import type { CriterionKind } from "../../src/model/erasure.ts";
import { noPrivacy, pseudonymOf } from "../../src/model/privacy.ts";
import { ThreadedErasures } from "../../src/service/threaded-erasures.ts";
import { findPseudonymKey, savePrivacy } from "../../src/store/accounts/privacy.ts";
import type { Database } from "../../src/store/db.ts";
import { moveErasure, nextErasure } from "../../src/store/erasures/progress.ts";
import { type Erasure, findErasure, insertDryRun, insertErasure } from "../../src/store/erasures.ts";
import { openVault } from "../../src/store/secrets/vault.ts";
import { defaultTraceLimits } from "../../src/threads/heap.ts";
import { canonicalBody, canonicalSpan } from "../support/bodies.ts";
import { eventually } from "../support/eventually.ts";
import { columnsWith } from "../support/leftovers.ts";
import { addressesOf, freshDatabase, openFresh } from "../support/postgres.ts";
import { send } from "../support/send.ts";
import { startTestService } from "../support/service.ts";

const vault = openVault(Buffer.alloc(32, 1));
const silent = openLog("silent");
const text = "in a quarter of all";

let own: Awaited<ReturnType<typeof freshDatabase>>;
let db: Database;
let work: ThreadedErasures;
let projectId: string;
let accountId: string;
let pseudonym: string;

before(async () => {
  own = await freshDatabase();
  db = openFresh(own.url, 4);
  work = new ThreadedErasures({ addresses: addressesOf(own.url), limits: defaultTraceLimits, log: silent });
  const service = await startTestService({ databaseUrl: own.url });
  ({
    projectId,
    owner: { accountId },
  } = service);
  const rules = { ...noPrivacy, pseudonyms: ["user.id"] };
  await savePrivacy(db, vault, projectId, rules);
  await savePrivacy(db, vault, projectId, noPrivacy);
  pseudonym = pseudonymOf((await findPseudonymKey(db, vault, projectId)).key!, "jane");
  const attributesOf = (at: number) => {
    if (at % 4 === 0) return { a: text };
    return at < 6 ? { "user.id": ["", "jane", pseudonym, pseudonym, "", "p_jane"][at] } : {};
  };
  for (let at = 0; at < 240; at += 40) {
    await Promise.all(
      Array.from({ length: 40 }, (_, one) => {
        const spans = [canonicalSpan({ attributes: attributesOf(at + one) })];
        return send(service, { body: canonicalBody(service.agent.id, { spans }) });
      }),
    );
  }
  // It works on erasures too, and cannot read what another key has sealed.
  await service.stop();
});
after(async () => {
  await work?.close();
  await db?.close();
  await own?.drop();
});

const wanted = (criterion: CriterionKind, value: string) => ({
  ...{ projectId, createdBy: accountId, criterion },
  sealed: { values: [value] },
});
const rowOf = async (id: string): Promise<Erasure> => (await findErasure(db, id))!;
const ended = (id: string) =>
  eventually(async () => {
    const row = await rowOf(id);
    assert.notEqual(row.state, "running");
    return row;
  });
const start = (does: ErasureWork, log = silent, leaseMs = 30_000) =>
  startJob({ ...erase({ db, vault, log, work: does }), everyMs: 20 }, { db, log, leaseMs });
const eraserWith = (find: ErasureWork["find"], leaseMs?: number) => {
  const { recheck, turns, waiting, drafts, quotes, holders } = work;
  return start({ find, recheck, turns, waiting, drafts, quotes, holders }, silent, leaseMs);
};

test("a dry run that is stopped after its first part is finished by others, and reads each trace once", async () => {
  const first = Promise.withResolvers<void>();
  const id = await insertDryRun(db, vault, wanted("text", text));
  const stopped = eraserWith(async (search, signal) => {
    if (search.cursor === null) return work.find(search, signal);
    first.resolve();
    return new Promise((_, reject) => signal!.addEventListener("abort", () => reject(signal!.reason)));
  });
  await first.promise;
  await stopped.stop();
  const { state, read } = await rowOf(id);
  assert.deepEqual([state, read], ["running", 100]);
  const erasers = [1, 2].map(() => eraserWith(work.find));
  const dryRun = await ended(id);
  assert.deepEqual([dryRun.state, dryRun.read, dryRun.matched], ["done", 240, 60]);
  for (const eraser of erasers) await eraser.stop();
});

test("others take over from a process that hangs, erase once, and it writes nothing any more", async () => {
  const dryRunId = await insertDryRun(db, vault, wanted("text", text));
  const before = eraserWith(work.find);
  const dryRun = await ended(dryRunId);
  await before.stop();
  const hanging = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const id = await insertErasure(db, vault, wanted("text", text), { dryRun, confirmed: dryRun.matched });
  const hung = eraserWith(async (search, signal) => {
    hanging.resolve();
    await released.promise;
    return work.find(search, signal);
  }, 3_600_000);
  await hanging.promise;
  await db.pool.query("update leases set held_until = now() where name = 'erase'");
  const others = [1, 2].map(() => eraserWith(work.find));
  const erasure = await ended(id);
  assert.deepEqual([erasure.state, erasure.matched, erasure.erased], ["done", 60, 60]);
  released.resolve();
  for (const eraser of [hung, ...others]) await eraser.stop();
  assert.deepEqual(await rowOf(id), erasure);
  assert.deepEqual(await columnsWith(own.url, text), []);
  const { rows } = await db.pool.query("select count(*)::int as traces from traces");
  assert.equal(rows[0].traces, 180);
});

test("a user is found under its pseudonym, too", async () => {
  const id = await insertDryRun(db, vault, wanted("userId", "jane"));
  const eraser = eraserWith(work.find);
  const { matched, error } = await ended(id);
  assert.deepEqual([matched, error], [3, null]);
  await eraser.stop();
});

test("an erasure by an ID says that it could not look for pseudonyms whose key it cannot decrypt", async () => {
  const { rows } = await db.pool.query("select sealed from pseudonym_keys where project_id = $1", [
    projectId,
  ]);
  const seal = (sealed: Buffer) =>
    db.pool.query("update pseudonym_keys set sealed = $2 where project_id = $1", [projectId, sealed]);
  await seal(openVault(Buffer.alloc(32, 2)).seal("a key", "sealed elsewhere"));
  const eraser = eraserWith(work.find);
  const byId = await ended(await insertDryRun(db, vault, wanted("userId", "jane")));
  const byText = await ended(await insertDryRun(db, vault, wanted("text", "jane")));
  await eraser.stop();
  await seal(rows[0].sealed);
  assert.deepEqual([byId.state, byId.matched, byText.error], ["done", 1, null]);
  assert.match(byId.error!, /^Not searched: pseudonyms/);
});

/** Of jane, whose last trace matches only once waiting log records were deleted. `missing`: how many fewer than all are confirmed. */
async function endOfJoined({ missing }: { missing: number }): Promise<Erasure> {
  const find = eraserWith(work.find);
  const dryRun = await ended(await insertDryRun(db, vault, wanted("userId", "jane")));
  await find.stop();
  const { rows } = await db.pool.query<{ trace_id: string }>(
    "select trace_id from erasure_matches where erasure_id = $1 limit 1",
    [dryRun.id],
  );
  const late = rows[0]!.trace_id;
  const confirmed = dryRun.matched - missing;
  const id = await insertErasure(db, vault, wanted("userId", "jane"), { dryRun, confirmed });
  await db.pool.query("delete from erasure_matches where erasure_id = $1 and trace_id = $2", [id, late]);
  let hasJoined = false;
  const { recheck, turns, drafts, quotes, holders } = work;
  const all: ErasureWork = {
    ...{ recheck, turns, drafts, quotes, holders },
    find: async (search, signal) => {
      const part = await work.find(search, signal);
      return hasJoined ? part : { ...part, matches: part.matches.filter(one => one.traceId !== late) };
    },
    waiting: async request => {
      hasJoined = true;
      await work.waiting(request);
    },
  };
  const eraser = start(all);
  const erasure = await ended(id);
  await eraser.stop();
  return erasure;
}

test("a trace that takes a waiting log record after it was read counts against the number that was confirmed", async () => {
  const { state, matched, erased, error } = await endOfJoined({ missing: 1 });
  assert.deepEqual([state, matched, erased], ["failed", 3, 0]);
  assert.equal(
    error,
    "No trace was erased, at most log records that waited for their span: 3 traces match by now, and 2 were confirmed. Start another dry run.",
  );
});

test("a trace that takes a waiting log record after it was read is found again, and erased", async () => {
  const { state, matched, erased } = await endOfJoined({ missing: 0 });
  assert.deepEqual([state, matched, erased], ["done", 3, 3]);
});

test("an erasure at a step of a newer version is left to others", async () => {
  const id = await insertDryRun(db, vault, wanted("text", text));
  await db.pool.query("update erasures set step = 'of a newer version' where id = $1", [id]);
  const later = await insertDryRun(db, vault, wanted("text", text));
  const older = eraserWith(work.find);
  assert.equal((await ended(later)).state, "done");
  await older.stop();
  const { state, attempts } = await rowOf(id);
  assert.deepEqual([state, attempts], ["running", 0]);
  await db.pool.query("update erasures set step = 'find' where id = $1", [id]);
  const newer = eraserWith(work.find);
  assert.equal((await ended(id)).state, "done");
  await newer.stop();
});

test("dry runs that begin at the same time do not exceed the limit together", async () => {
  const begun = await Promise.allSettled(
    Array.from({ length: 8 }, () => insertDryRun(db, vault, wanted("text", text))),
  );
  const refused = begun.flatMap(one => (one.status === "rejected" ? [one.reason.code] : []));
  assert.deepEqual(refused, ["CONFLICT", "CONFLICT", "CONFLICT"]);
  const eraser = eraserWith(work.find);
  for (const one of begun) if (one.status === "fulfilled") await ended(one.value);
  await eraser.stop();
});

test("a fault is tried again, and shown and logged without what it says", async () => {
  const lines: string[] = [];
  const id = await insertDryRun(db, vault, wanted("text", text));
  const failing = {
    ...work,
    find: () => Promise.reject(new Error(`about ${text}`)),
  } as unknown as ErasureWork;
  const recording = openLog("info", { write: line => void lines.push(line) });
  const eraser = start(failing, recording);
  const error = await eventually(async () => {
    const row = await rowOf(id);
    assert.ok(row.error);
    return row.error;
  });
  assert.equal(error, "Internal error; see the service log. Attempt 1 of 5.");
  await eraser.stop();
  assert.equal(lines.length, 1);
  assert.equal(lines.join("").includes(text), false);
});

test("erasures take turns, part by part", async () => {
  const [first, second] = [
    await insertDryRun(db, vault, wanted("text", text)),
    await insertDryRun(db, vault, wanted("userId", "jane")),
  ];
  const worked: string[] = [];
  for (let part = 0; part < 4; part++) {
    const { id, step, cursor } = (await nextErasure(db))!;
    worked.push(id);
    const progress = { read: 0, erased: 0, matches: [], unmatched: [] };
    await moveErasure(db, vault, { id, step, cursor }, { step, cursor, ...progress });
  }
  assert.deepEqual(worked, [first, second, first, second]);
});
