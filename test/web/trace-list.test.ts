// The dashboard's list of traces against a server that changes under it: in the end it shows what there is, by few requests.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { TraceList } from "../../web/queries/trace-list.ts";

type Stored = { id: string; revision: number };
type Row = Stored & { externalId: string; run: null };

/** Answers as the API does: newest first, below the cursor, sometimes with short pages. */
function serverOf(traces: Stored[], short = false) {
  const asked: Record<string, string>[] = [];
  const read = async (query: Record<string, string>) => {
    asked.push(query);
    const { cursor, limit, externalId } = query;
    const found = traces
      .filter(
        ({ id }) => (cursor === undefined || id < cursor) && (externalId === undefined || id === externalId),
      )
      .sort((one, other) => (one.id < other.id ? 1 : -1));
    const many = short && asked.length % 2 === 0 ? Math.min(60, Number(limit)) : Number(limit);
    const items = found.slice(0, many);
    const nextCursor = found.length > many ? (items.at(-1)?.id ?? cursor ?? "~") : null;
    return {
      items: items.map(trace => ({ ...trace, externalId: trace.id, run: null })),
      nextCursor,
    };
  };
  return { asked, read };
}

const idOf = (number: number) => String(number).padStart(6, "0");
const many = (count: number, from = 1): Stored[] =>
  Array.from({ length: count }, (_, at) => ({ id: idOf(from + at), revision: 1 }));
const shownIn = (list: TraceList<Row>) => list.shown().rows.map(({ id, revision }) => ({ id, revision }));
const newestFirst = (traces: Stored[]) => traces.toSorted((one, other) => (one.id < other.id ? 1 : -1));

async function readAll(list: TraceList<Row>): Promise<void> {
  while (list.shown().nextCursor !== null) await list.more();
}

/** Lets every answer arrive, and each wait pass. */
async function settle(timers: { tick(ms: number): void }): Promise<void> {
  for (let turn = 0; turn < 12; turn++) {
    timers.tick(1_100);
    for (let step = 0; step < 20; step++) await Promise.resolve();
  }
}

test("whatever is added, changed or deleted, at the top the list comes to show what there is", async context => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const change = fc.oneof(
    fc.record({ what: fc.constant("create" as const) }),
    fc.record({ what: fc.constantFrom("merge" as const, "delete" as const), at: fc.nat() }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.nat(450),
      fc.array(fc.tuple(change, fc.boolean()), { maxLength: 30 }),
      fc.boolean(),
      async (count, changes, short) => {
        const traces = many(count);
        const { read } = serverOf(traces, short);
        const list = new TraceList(read);
        list.wake();
        await readAll(list);
        list.setVisible(0, 1_000);
        let newest = count;
        for (const [{ what, ...rest }, pause] of changes) {
          const at = "at" in rest ? rest.at % (traces.length || 1) : 0;
          const event = { type: "trace", agentId: "a" } as const;
          if (what === "create") {
            traces.push({ id: idOf(++newest), revision: 1 });
            list.onEvent({ ...event, traceId: idOf(newest), change: "created" });
          } else if (traces[at] && what === "merge") {
            traces[at].revision++;
            list.onEvent({ ...event, traceId: traces[at].id, change: "merged" });
          } else if (traces[at]) {
            const [gone] = traces.splice(at, 1);
            list.onEvent({ ...event, traceId: gone!.id, change: "deleted" });
          }
          if (pause) await settle(context.mock.timers);
        }
        await settle(context.mock.timers);
        list.onEvent({ type: "refresh", agentId: null });
        await settle(context.mock.timers);
        await readAll(list);
        assert.deepEqual(shownIn(list), newestFirst(traces));
      },
    ),
    { numRuns: 60 },
  );
});

test("a thousand events of a moment are followed by one request", async context => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const traces = many(300);
  const { read, asked } = serverOf(traces);
  const list = new TraceList(read);
  list.wake();
  await readAll(list);
  await settle(context.mock.timers);
  asked.length = 0;
  for (const trace of many(1_000, 301)) {
    traces.push(trace);
    list.onEvent({ type: "trace", agentId: "a", traceId: trace.id, change: "created" });
  }
  await settle(context.mock.timers);
  assert.deepEqual(asked, [{ limit: "100" }]);
  assert.equal(list.shown().rows.length, 100, "what lies between is read again when somebody scrolls there");
  await readAll(list);
  assert.equal(list.shown().rows.length, 1_300);
});

test("away from the top no row moves; the newer ones are counted, and there once one is at the top", async context => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const traces = many(150);
  const { read } = serverOf(traces);
  const list = new TraceList(read);
  list.wake();
  await readAll(list);
  list.setAtTop(false);
  traces.push(...many(3, 151));
  list.onEvent({ type: "refresh", agentId: null });
  await settle(context.mock.timers);
  assert.equal(list.shown().rows[0]!.id, idOf(150));
  assert.deepEqual(list.shown().fresh, { count: 3, atLeast: false });
  list.setAtTop(true);
  assert.equal(list.shown().rows[0]!.id, idOf(153));
  assert.deepEqual(list.shown().fresh, { count: 0, atLeast: false });
});

test("a trace that is deleted away from the top does not come back with the newer ones", async context => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const traces = many(150);
  const { read } = serverOf(traces);
  const list = new TraceList(read);
  list.wake();
  await readAll(list);
  list.setAtTop(false);
  traces.push(...many(1, 151));
  list.onEvent({ type: "refresh", agentId: null });
  await settle(context.mock.timers);
  list.remove([idOf(140)]);
  list.onEvent({ type: "trace", agentId: "a", traceId: idOf(139), change: "deleted" });
  list.setAtTop(true);
  const shown = shownIn(list).map(({ id }) => id);
  assert.deepEqual([shown[0], shown.length], [idOf(151), 149]);
  assert.ok(!shown.includes(idOf(140)) && !shown.includes(idOf(139)));
});

test("asleep it asks nothing, and what it missed it reads when it wakes", async context => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const traces = many(10);
  const { read, asked } = serverOf(traces);
  const list = new TraceList(read);
  list.wake();
  await readAll(list);
  await settle(context.mock.timers);
  asked.length = 0;
  list.sleep();
  traces.push(...many(1, 11));
  list.onEvent({ type: "trace", agentId: "a", traceId: idOf(11), change: "created" });
  await settle(context.mock.timers);
  assert.deepEqual(asked, []);
  list.wake();
  await settle(context.mock.timers);
  assert.deepEqual(shownIn(list), newestFirst(traces));
});

/** Answers in an order of its own, two rows a page, and says how far it searched. */
function sortedServer(ids: string[]) {
  const asked: Record<string, string>[] = [];
  const read = async (query: Record<string, string>) => {
    asked.push(query);
    const { cursor = "0", externalId } = query;
    const from = externalId === undefined ? Number(cursor) : ids.indexOf(externalId);
    const to = externalId === undefined ? from + 2 : from + 1;
    const items = ids.slice(from, to).map(id => ({ id, revision: 1, externalId: id, run: null }));
    const left = to < ids.length ? `2026-11-2${to}T00:00:00Z` : null;
    return {
      items,
      nextCursor: left && String(to),
      ordered: { traces: ids.length, from: left },
      searched: { traces: 10, tooLarge: 1, from: left },
    };
  };
  return { asked, read };
}

test("rows that the user deleted are removed also while the list is asleep", async () => {
  const list = new TraceList<Row>(serverOf(many(5)).read);
  await readAll(list);
  list.sleep();
  list.remove([idOf(2), idOf(4), idOf(9)]);
  assert.deepEqual(
    shownIn(list).map(({ id }) => id),
    [5, 3, 1].map(idOf),
  );
});

test("a sorted list keeps the server's order: it shows no row twice, and finds, updates and removes rows in place", async context => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  // The third page begins with a row that moved down after the first.
  const { asked, read } = sortedServer(["m", "z", "a", "q", "m", "b"]);
  const list = new TraceList(read, "sorted");
  list.wake();
  await readAll(list);
  const ids = () => list.shown().rows.map(({ id }) => id);
  assert.deepEqual(ids(), ["m", "z", "a", "q", "b"]);
  assert.deepEqual(
    ["m", "q", "b", "never"].map(id => list.indexOf(id)),
    [0, 3, 4, -1],
  );
  assert.deepEqual(list.shown().ordered, { traces: 6, from: "2026-11-22T00:00:00Z" });
  list.setVisible(0, 4);
  asked.length = 0;
  list.onEvent({ type: "trace", agentId: "a", traceId: "new", change: "created" });
  await settle(context.mock.timers);
  assert.deepEqual(asked, [], "the place of a new trace is unknown");
  list.onEvent({ type: "trace", agentId: "a", traceId: "q", change: "merged" });
  await settle(context.mock.timers);
  assert.deepEqual(asked, [{ externalId: "q", limit: "1" }]);
  list.onEvent({ type: "trace", agentId: "a", traceId: "z", change: "deleted" });
  assert.deepEqual(ids(), ["m", "a", "q", "b"]);
  assert.deepEqual([list.indexOf("z"), list.positionFor("z")], [-1, 1], "where the row was");
  list.restart();
  await readAll(list);
  assert.deepEqual(ids(), ["m", "z", "a", "q", "b"]);
});

test("a search of spans reads one page, and further ones only for the user; what it searched adds up", async () => {
  const { asked, read } = sortedServer(["e", "d", "c", "b", "a"]);
  const list = new TraceList(read, "searched");
  await list.more();
  await list.more();
  assert.equal(asked.length, 1);
  assert.deepEqual(list.shown().searched, { traces: 10, tooLarge: 1, from: "2026-11-22T00:00:00Z" });
  await list.more("user");
  await list.more();
  assert.equal(asked.length, 2);
  await list.more("user");
  assert.deepEqual(list.shown().searched, { traces: 30, tooLarge: 3, from: null });
  assert.equal(list.shown().rows.length, 5);
});
