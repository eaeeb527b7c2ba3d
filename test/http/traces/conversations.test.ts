// Conversations over HTTP: the list, the turns of one in both directions, the place of a trace, and filters by ids.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConversationPage, ConversationTurns } from "../../../src/http/traces/conversations-schemas.ts";
import { makeAgent } from "../../support/app.ts";
import { canonicalBody, canonicalSpan } from "../../support/bodies.ts";
import { storeTrace } from "../../support/stored-traces.ts";
import { world } from "../../support/world.ts";

const service = world({ roles: ["http"] });

const said = (role: string, content: string) => [{ role, parts: [{ type: "text", content }] }];

type Turn = { input: string; reply?: string; start: number; user?: string; tool?: string };

/** Sends one turn to the agent and returns the id of its trace. */
async function sendTurn(agentId: string, conversationId: string, turn: Turn): Promise<string> {
  const nanos = (seconds: number) => `${1_700_000_000 + turn.start + seconds}000000000`;
  const times = { start_time_unix_nano: nanos(0), end_time_unix_nano: nanos(2) };
  const root = canonicalSpan({
    ...times,
    attributes: {
      "session.id": conversationId,
      ...(turn.user && { "user.id": turn.user }),
      "gen_ai.input.messages": said("user", turn.input),
      "gen_ai.output.messages": said("assistant", turn.reply ?? "Yes."),
    },
  });
  const tool = {
    span_id: "tool",
    parent_span_id: "root",
    name: "execute_tool",
    ...times,
    status: { code: 2 },
    attributes: { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": turn.tool },
  };
  const body = canonicalBody(agentId, { spans: [root, ...(turn.tool ? [tool] : [])] });
  const answer = await service.send({ body });
  assert.ok(answer.status < 300, answer.bytes.toString());
  return String(answer.headers["x-svc-trace-id"]);
}

const newAgent = async () => (await makeAgent(service.owner)).id;

async function list(agentId: string, query = ""): Promise<ConversationPage> {
  return await service.read(`/api/agents/${agentId}/conversations?${query}`);
}

const pathOf = (agentId: string, query: Record<string, string>) =>
  `/api/agents/${agentId}/conversation?${new URLSearchParams(query)}` as const;

async function read(agentId: string, query: Record<string, string>): Promise<ConversationTurns> {
  return await service.read(pathOf(agentId, query));
}

test("a conversation reads as one chat: its turns in the order in which they began, with texts, calls and neighbors", async () => {
  const agentId = await newAgent();
  const id = 'a/b?c=%2F&"ü" ..';
  const long = "Long. ".repeat(1_000);
  const second = await sendTurn(agentId, id, { input: "And now?", reply: long, start: 60, tool: "search" });
  const first = await sendTurn(agentId, id, { input: "Hello", start: 0, user: "u-1" });
  const other = await sendTurn(agentId, "other", { input: "Other", start: 0 });

  const { items } = await list(agentId);
  assert.deepEqual(
    items.map(one => [one.conversationId, one.userInput, one.traces, one.userId, one.verdict]),
    [
      ["other", "Other", { count: 1, more: false }, null, null],
      [id, "Hello", { count: 2, more: false }, "u-1", null],
    ],
  );
  const {
    conversation,
    items: turns,
    previousCursor,
    nextCursor,
  } = await read(agentId, { conversationId: id });
  assert.deepEqual(conversation, items[1]);
  assert.deepEqual([previousCursor, nextCursor], [null, null]);
  assert.deepEqual(
    turns.map(one => [one.number, one.id, one.userInput, one.responseText, one.toolCalls, one.toolCallCount]),
    [
      [1, first, "Hello", "Yes.", [], 0],
      [2, second, "And now?", long, [{ spanId: "tool", name: "search", failed: true }], 1],
    ],
  );
  assert.equal(turns[0]!.startedAt, "2023-11-14T22:13:20.000Z");

  const body = await service.read(`/api/traces/${second}/turn`);
  assert.deepEqual(body.turn, {
    conversationId: id,
    number: 2,
    traces: { count: 2, more: false },
    previousTraceId: first,
    nextTraceId: null,
  });
  const filtered = await service.client
    .get(`/api/agents/${agentId}/traces?${new URLSearchParams({ conversationId: id })}`)
    .expect(200);
  assert.deepEqual(
    filtered.body.items.map((one: { id: string }) => one.id),
    [first, second],
  );
  const ofUser = await service.client.get(`/api/agents/${agentId}/traces?userId=u-1`).expect(200);
  assert.deepEqual(
    ofUser.body.items.map(one => [one.id, one.conversationId]),
    [[first, id]],
  );
  assert.notEqual(other, first);
});

test("1,001 turns, one more than the list counts, are read page by page, from either end or from any turn", async () => {
  const agentId = await newAgent();
  const ids: string[] = [];
  const began = Date.UTC(2026, 0, 1);
  for (let at = 0; at < 1_001; at++) {
    ids.push(
      await storeTrace(service.db, agentId, { conversationId: "long", receivedAt: new Date(began + at) }),
    );
  }
  const { items } = await list(agentId);
  assert.deepEqual(items[0]!.traces, { count: 1_000, more: true });
  const idsIn = (page: ConversationTurns) => page.items.map(one => one.id);
  const conversationId = "long";
  const start = await read(agentId, { conversationId, limit: "50" });
  assert.deepEqual(idsIn(start), ids.slice(0, 50));
  assert.deepEqual(start.conversation.traces, { count: 1_001, more: false });
  assert.equal(start.previousCursor, null);
  const next = await read(agentId, { conversationId, limit: "50", cursor: start.nextCursor! });
  assert.deepEqual(idsIn(next), ids.slice(50, 100));
  const back = await read(agentId, { conversationId, limit: "50", cursor: next.previousCursor! });
  assert.deepEqual([idsIn(back), back.previousCursor], [ids.slice(0, 50), null]);
  const end = await read(agentId, { conversationId, from: "end" });
  assert.deepEqual([idsIn(end), end.nextCursor], [ids.slice(-20), null]);
  assert.equal(end.items.at(-1)!.number, 1_001);
  const middle = await read(agentId, { conversationId, traceId: ids[500]! });
  assert.deepEqual(idsIn(middle), ids.slice(500, 520));
  const before = await read(agentId, { conversationId, cursor: middle.previousCursor!, limit: "1" });
  assert.deepEqual(idsIn(before), [ids[499]]);
});

test("the list is paged, and shows live conversations or test runs alone", async () => {
  const agentId = await newAgent();
  for (const [at, kind] of (["live", "test_run", "live"] as const).entries()) {
    await storeTrace(service.db, agentId, { kind, conversationId: `c-${at}`, receivedAt: new Date(at + 1) });
  }
  const first = await list(agentId, "limit=2");
  const rest = await list(agentId, `limit=2&cursor=${first.nextCursor}`);
  assert.deepEqual(
    [...first.items, ...rest.items].map(one => one.conversationId),
    ["c-2", "c-1", "c-0"],
  );
  assert.equal(rest.nextCursor, null);
  const live = await list(agentId, "kind=live");
  assert.deepEqual(
    live.items.map(one => one.conversationId),
    ["c-2", "c-0"],
  );
  assert.deepEqual((await list(await newAgent())).items, []);
});

test("the same id at another agent is another conversation", async () => {
  const [agentId, otherId] = [await newAgent(), await newAgent()];
  await storeTrace(service.db, agentId, { conversationId: "shared" });
  const other = await storeTrace(service.db, otherId, { conversationId: "shared" });
  assert.deepEqual((await list(agentId)).items[0]!.traces.count, 1);
  await service.client.get(pathOf(agentId, { conversationId: "shared", traceId: other })).expect(404);
});

test("a conversation without traces is 404, a trace without one has no turn, and a wrong cursor is 400", async () => {
  const agentId = await newAgent();
  await service.client.get(pathOf(agentId, { conversationId: "absent" })).expect(404);
  const traceId = await storeTrace(service.db, agentId);
  const body = await service.read(`/api/traces/${traceId}/turn`);
  assert.deepEqual(body, { turn: null });
  const cursor = Buffer.alloc(25, 7).toString("base64url");
  for (const query of [
    {},
    { conversationId: "" },
    { conversationId: "c", cursor: "x" },
    { conversationId: "c", cursor },
  ]) {
    await service.client.get(pathOf(agentId, query as Record<string, string>)).expect(400);
  }
});
