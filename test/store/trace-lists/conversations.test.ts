// Conversations: their list equals a naive one, their turns are in the order in which they began, and ids follow the spans.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import fc from "fast-check";
import type pg from "pg";
import { refreshStale } from "../../../src/load/stale.ts";
import { placeOf } from "../../../src/store/cluster/routing.ts";
import type { Session } from "../../../src/store/db.ts";
import { newest } from "../../../src/store/listing.ts";
import {
  countTurnsBefore,
  describeConversations,
  findTurn,
  listConversations,
  listTurnsOfConversation,
} from "../../../src/store/trace-lists/conversations.ts";
import { listTraces } from "../../../src/store/trace-lists/list.ts";
import { deleteTrace } from "../../../src/store/traces/read.ts";
import { TraceWriter } from "../../../src/store/traces/writer.ts";
import { type StoredTrace, storeTrace } from "../../support/stored-traces.ts";
import {
  canonicalWrite,
  limits,
  makeSender,
  openTwice,
  otlpWrite,
  type Sender,
} from "../traces/make-write.ts";

const { db, close } = await openTwice();
after(close);

const writer = new TraceWriter(db, limits);
const began = Date.UTC(2026, 0, 1);

type Model = { conversation: string | null; start: number; kind: "live" | "test_run" };

const model: fc.Arbitrary<Model> = fc.record({
  conversation: fc.constantFrom(null, "c-1", "c-2", "c-3"),
  start: fc.nat(3),
  kind: fc.constantFrom("live", "live", "test_run"),
});

async function storeAll(agentId: string, models: Model[]): Promise<(Model & { id: string })[]> {
  const stored = [];
  for (const [at, one] of models.entries()) {
    const id = await storeTrace(db, agentId, {
      kind: one.kind,
      receivedAt: new Date(began + at),
      startedAt: new Date(began - 1_000 + one.start),
      conversationId: one.conversation,
    });
    stored.push({ ...one, id });
  }
  return stored;
}

const inTurns = (one: { start: number; id: string }, other: { start: number; id: string }) =>
  one.start - other.start || (one.id < other.id ? -1 : 1);

test("the list equals a naive one, each conversation once, for any page and scan size", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(model, { maxLength: 12 }),
      fc.constantFrom(undefined, "live" as const, "test_run" as const),
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 1, max: 4 }),
      async (models, kind, rowsMax, stretch) => {
        const { agentId } = await makeSender(db, { judged: false });
        const stored = await storeAll(agentId, models);
        const last = new Map<string, (typeof stored)[number]>();
        for (const one of stored.toSorted(inTurns)) if (one.conversation) last.set(one.conversation, one);
        const expected = [...last.values()].filter(one => kind === undefined || one.kind === kind);
        const listed = [];
        for (let before: string | null = newest; before !== null; ) {
          const page = await listConversations(db, agentId, kind, { before, rowsMax }, { ms: 0, stretch });
          listed.push(...page.rows);
          before = page.rows.length === rowsMax ? page.rows.at(-1)!.id : page.reach;
        }
        assert.deepEqual(
          listed.map(row => [row.conversationId, row.lastTraceId, row.traces]),
          expected
            .toSorted((one, other) => (one.id < other.id ? 1 : -1))
            .map(one => [
              one.conversation,
              one.id,
              stored.filter(({ conversation }) => conversation === one.conversation).length,
            ]),
        );
      },
    ),
    { numRuns: 40 },
  );
});

test("turns are in the order in which they began, from either side of any of them, with number and neighbors", async () => {
  const { agentId } = await makeSender(db, { judged: false });
  const starts = [3, 1, 1, 0, 2, 1];
  const stored = await storeAll(
    agentId,
    starts.map(start => ({ conversation: "c", start, kind: "live" })),
  );
  await storeAll(agentId, [{ conversation: "other", start: 0, kind: "live" }]);
  const ids = stored.toSorted(inTurns).map(({ id }) => id);
  const conversation = { agentId, conversationId: "c" };
  const listed = async (...[at, rowsMax]: [Parameters<typeof listTurnsOfConversation>[2], number]) =>
    (await listTurnsOfConversation(db, conversation, at, rowsMax)).map(({ id }) => id);
  assert.deepEqual(await listed("start", 9), ids);
  assert.deepEqual(await listed("end", 2), ids.slice(-2));
  for (const [at, id] of ids.entries()) {
    const turn = (await findTurn(db, id))!;
    assert.deepEqual(await listed({ after: turn }, 2), ids.slice(at + 1, at + 3));
    assert.deepEqual(await listed({ from: turn }, 2), ids.slice(at, at + 2));
    assert.deepEqual(await listed({ before: turn }, 2), ids.slice(Math.max(0, at - 2), at));
    assert.deepEqual(
      [turn.previousTraceId, turn.nextTraceId, await countTurnsBefore(db, conversation, turn)],
      [ids[at - 1] ?? null, ids[at + 1] ?? null, at],
    );
  }
});

test("a conversation has the first input, the last reply, and the verdicts of its last turns", async () => {
  const { agentId } = await makeSender(db, { judged: false });
  const turn = (at: number, more: StoredTrace) =>
    storeTrace(db, agentId, { conversationId: "c", receivedAt: new Date(began + at), ...more });
  await turn(0, { userInput: "Hello", userId: "u-1", run: { state: "completed", verdict: "failed" } });
  await turn(1, { userInput: "More", run: { state: "completed", verdict: "passed" } });
  await turn(2, { responseText: "Bye", run: { state: "pending" } });
  const row = (await describeConversations(db, agentId, ["c", "absent"], 2)).get("c")!;
  assert.deepEqual(
    [row.userInput, row.responseText, row.userId, row.traces, row.firstAt, row.lastAt],
    ["Hello", "Bye", "u-1", 3, began * 1_000, (began + 2) * 1_000],
  );
  assert.deepEqual(row.verdicts, { passed: 1, failed: 1, skipped: 0, missing_instrumentation: 0, none: 1 });
});

const idOf = (attributes: Record<string, unknown>) => ({ attributes });

async function idsOf({ agentId }: Sender) {
  const { rows } = await db.pool.query(
    `select conversation_id as conversation, user_id as "user", turn_at as at from traces where agent_id = $1 order by id`,
    [agentId],
  );
  return rows;
}

test("ids are stored with the trace, and change when it is replaced", async () => {
  const sender = await makeSender(db, { judged: false });
  const write = (ids: Record<string, unknown>) =>
    writer.write(canonicalWrite(sender, { externalId: "x", ...idOf(ids) }));
  await write({ "session.id": "s-1", "user.id": " u " });
  const [first] = await idsOf(sender);
  assert.deepEqual([first.conversation, first.user], ["s-1", " u "]);
  assert.ok(Math.abs(first.at / 1_000 - Date.now()) < 60_000, "without times, a turn began when it arrived");
  await write({ "gen_ai.conversation.id": "c-1", "session.id": "s-1" });
  assert.deepEqual(await idsOf(sender), [{ conversation: "c-1", user: null, at: first.at }]);
  await write({ "session.id": "  " });
  assert.deepEqual(await idsOf(sender), [{ conversation: null, user: null, at: null }]);
});

test("a merge whose spans disagree takes the trace out of its conversation, and deletion the conversation off the list", async () => {
  const sender = await makeSender(db, { judged: false });
  const listed = async () => {
    const { rows } = await listConversations(db, sender.agentId, undefined, { before: newest, rowsMax: 9 });
    return rows.map(({ conversationId, traces }) => [conversationId, traces]);
  };
  const [one, other] = [
    canonicalWrite(sender, idOf({ "session.id": "s" })),
    otlpWrite(sender, { externalId: "m" }),
  ];
  await writer.write(one);
  await writer.write({ ...other, columns: { ...other.columns, conversationId: "s" } });
  assert.deepEqual(await listed(), [["s", 2]]);
  // The spans of the second trace have no conversation id.
  await writer.write(otlpWrite(sender, { externalId: "m", spans: ["b"] }));
  await refreshStale(db, { agentId: sender.agentId });
  assert.deepEqual(await listed(), [["s", 1]]);
  await deleteTrace(db, one.traceId);
  assert.deepEqual(await listed(), []);
});

test("a conversation that is deleted while the list is read does not end its pages", async () => {
  const sender = await makeSender(db, { judged: false });
  const [older, newer] = [{ conversation: "older" }, { conversation: "newer" }];
  const models = [older, newer].map(one => ({ ...one, start: 0, kind: "live" as const }));
  const stored = await storeAll(sender.agentId, models);
  const place = await placeOf(db, sender.agentId);
  const racing = {
    ...place,
    pool: {
      query: async (query: pg.QueryConfig) => {
        if (query.name === "describe_conversations") await deleteTrace(db, stored[1]!.id);
        return place.pool.query(query);
      },
    } as unknown as Session,
  };
  const first = await listConversations(racing, sender.agentId, undefined, { before: newest, rowsMax: 1 });
  assert.deepEqual(first.rows, []);
  assert.ok(first.reach !== null);
  const rest = { before: first.reach, rowsMax: 1 };
  const { rows } = await listConversations(db, sender.agentId, undefined, rest);
  assert.deepEqual(
    rows.map(({ conversationId }) => conversationId),
    ["older"],
  );
});

test("ids that differ after 10,000 characters are two conversations, and each is found by the whole id", async () => {
  const sender = await makeSender(db, { judged: false });
  const long = "x".repeat(10_000);
  const ids = [`${long}a`, `${long}b`, "a\0", "a\uFFFD"];
  for (const id of ids) await writer.write(canonicalWrite(sender, idOf({ "session.id": id })));
  const { rows } = await listConversations(db, sender.agentId, undefined, { before: newest, rowsMax: 9 });
  assert.equal(new Set(rows.map(({ conversationId }) => conversationId)).size, ids.length);
  for (const { conversationId } of rows) {
    assert.ok(conversationId.length <= 255);
    const found = await listTraces(db, sender.agentId, { conversationId }, { before: newest, rowsMax: 9 });
    assert.equal(found.rows.length, 1);
  }
});
