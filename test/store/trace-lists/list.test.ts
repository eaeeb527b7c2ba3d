// The list of traces: equal to a naive filter, and every row returned exactly once, however few rows each scan reads.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";
import fc from "fast-check";
import type { Outcome } from "../../../src/model/run/outcome.ts";
import type { Routing, RunState } from "../../../src/model/run/run.ts";
import { idAt, minuteOfId, newest, oldest, timeOfId } from "../../../src/store/listing.ts";
import { newId } from "../../../src/store/new-id.ts";
import { listRunsOfTest } from "../../../src/store/runs/read.ts";
import type { TraceFilters } from "../../../src/store/trace-lists/filters.ts";
import { listTraces } from "../../../src/store/trace-lists/list.ts";
import { openFresh } from "../../support/postgres.ts";
import { makeSender, makeTestCase, openTwice } from "../traces/make-write.ts";

const { url, db, close } = await openTwice();
after(close);

/** The time is up after the first scan, which reads this few rows. */
const hurried = (stretch: number) => ({ ms: 0, stretch });

const outcomes = ["passed", "failed", "skipped", "missing_instrumentation"] as const;
const routings = ["ok", "not_needed", "no_user_input", "unavailable"] as const;
const testIds = [randomUUID(), randomUUID()];
const began = Date.UTC(2026, 0, 1);
const hourMs = 3_600_000;

type ModelRun = {
  state: RunState;
  verdict: Outcome;
  routing: Routing;
  test: number;
  version: number;
  outage: boolean;
  waiting: boolean;
};
type ModelTrace = {
  kind: "live" | "test_run";
  path: "canonical" | "otlp";
  failed: boolean;
  httpStatus: number | null;
  durationMs: number | null;
  tokens: number | null;
  name: string;
  tools: string[];
  models: string[];
  /** Null, as nearly all traces have it. */
  redacted: string[] | null;
  conversation: string | null;
  user: string | null;
  /** After `began`; ids follow these times. */
  hour: number;
  runs: ModelRun[];
};

const run: fc.Arbitrary<ModelRun> = fc.record({
  state: fc.constantFrom("running", "completed", "completed", "error"),
  verdict: fc.constantFrom(...outcomes),
  routing: fc.constantFrom(...routings),
  test: fc.nat(1),
  version: fc.integer({ min: 1, max: 2 }),
  outage: fc.boolean(),
  waiting: fc.boolean(),
});
const trace: fc.Arbitrary<ModelTrace> = fc.record({
  kind: fc.constantFrom("live", "live", "test_run"),
  path: fc.constantFrom("canonical", "otlp"),
  failed: fc.boolean(),
  httpStatus: fc.constantFrom(null, 200, 404, 500),
  durationMs: fc.constantFrom(null, 1, 10, 100),
  tokens: fc.constantFrom(null, 1, 10, 100),
  name: fc.constantFrom("Refund", "parcel", "100%"),
  tools: fc.subarray(["search", "refund"]),
  models: fc.subarray(["m-1", "m-2"]),
  redacted: fc.constantFrom(null, ["email"], ["email", "order"]),
  conversation: fc.constantFrom(null, "c-1", "c-2"),
  user: fc.constantFrom(null, "u-1", "u-2"),
  // A third of them in one hour, some in adjacent minutes.
  hour: fc.oneof(fc.nat(5), fc.constantFrom(2 + 1 / 60, 2 + 2 / 60)),
  runs: fc.array(run, { maxLength: 3 }),
});
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 3 });
const filter: fc.Arbitrary<TraceFilters> = fc.record({
  kind: optional(fc.constantFrom("live", "test_run")),
  path: optional(fc.constantFrom("canonical", "otlp")),
  state: optional(fc.constantFrom("pending", "running", "waiting", "completed", "error", "none")),
  verdict: optional(fc.constantFrom(...outcomes)),
  routing: optional(fc.constantFrom(...routings)),
  failed: optional(fc.boolean()),
  outage: optional(fc.boolean()),
  httpStatus: optional(fc.constantFrom(200, 404, 500)),
  externalId: optional(fc.constantFrom("0", "1", "9")),
  testId: optional(fc.constantFrom(...testIds)),
  tool: optional(fc.constantFrom("search", "refund", "absent")),
  model: optional(fc.constantFrom("m-1", "m-2")),
  redacted: optional(fc.constantFrom("email", "order", "absent")),
  conversationId: optional(fc.constantFrom("c-1", "c-2", "absent")),
  userId: optional(fc.constantFrom("u-1", "u-2")),
  testOutcome: optional(fc.constantFrom(...outcomes)),
  testVersion: optional(fc.constantFrom(1, 2)),
  testIds: optional(fc.subarray(testIds)),
  receivedFrom: optional(fc.nat(5).map(hour => new Date(began + hour * hourMs))),
  receivedTo: optional(fc.nat(5).map(hour => new Date(began + hour * hourMs))),
  durationMinMs: optional(fc.constantFrom(1, 10, 100)),
  durationMaxMs: optional(fc.constantFrom(1, 10, 100)),
  tokensMin: optional(fc.constantFrom(1, 10, 100)),
  tokensMax: optional(fc.constantFrom(1, 10, 100)),
  text: optional(fc.constantFrom("refund", "PAR", "%")),
});
// One or two at a time: all of them together would hardly ever match anything.
const fewFilters = fc
  .tuple(
    filter,
    fc.subarray(["kind", "path", "state", "verdict", "routing", "outage", "failed"], { maxLength: 1 }),
    fc.subarray(
      [
        "httpStatus",
        "externalId",
        "tool",
        "model",
        "redacted",
        "conversationId",
        "userId",
        "testId",
        "testOutcome",
        "testVersion",
        "testIds",
        "receivedFrom",
        "receivedTo",
        "durationMinMs",
        "durationMaxMs",
        "tokensMin",
        "tokensMax",
        "text",
      ],
      { maxLength: 3 },
    ),
  )
  .map(([all, ...names]) => {
    const kept = new Set<string>(names.flat());
    // Outcomes and versions are those of a test.
    if (kept.has("testOutcome") || kept.has("testVersion")) {
      all.testId ??= testIds[0];
      kept.add("testId");
    }
    return Object.fromEntries(Object.entries(all).filter(([name]) => kept.has(name))) as TraceFilters;
  });

const someOfEach: TraceFilters = {
  kind: "live",
  path: "otlp",
  state: "completed",
  verdict: "failed",
  routing: "ok",
  failed: true,
  outage: true,
  httpStatus: 404,
  externalId: "1",
  tool: "search",
  model: "m-1",
  redacted: "email",
  conversationId: "c-1",
  userId: "u-1",
  testId: testIds[0],
  testIds,
  receivedFrom: new Date(began + 2 * hourMs),
  receivedTo: new Date(began + 3 * hourMs),
  durationMinMs: 10,
  durationMaxMs: 10,
  tokensMin: 10,
  tokensMax: 10,
  text: "refund",
};

type Stored = ModelTrace & { id: string; externalId: string };

async function store(agentId: string, traces: ModelTrace[]): Promise<Stored[]> {
  const stored: Stored[] = [];
  const inOrder = traces.toSorted((one, other) => one.hour - other.hour);
  for (const [at, one] of inOrder.entries()) {
    const timeMs = began + one.hour * hourMs;
    const id = idAt(timeMs + at).slice(0, -12) + randomUUID().slice(-12);
    const externalId = String(at);
    await db.pool.query(
      `with named as (insert into trace_identities (agent_id, trace_id, external_id) values ($2, $1, $3))
      insert into traces (id, agent_id, external_id, kind, path, received_at, batch_spans, batch_bytes,
        derived_revision, name, duration_ms, http_status, input_tokens, failed, tools, models, span_count,
        conversation_id, user_id, turn_at, redacted)
      values ($1, $2, $3, $4, $5, $6, 1, 1, 1, $7, $8, $9, $10, $11, $12, $13, 1, $14, $15, $16, $17)`,
      [
        id,
        agentId,
        externalId,
        one.kind,
        one.path,
        new Date(timeMs),
        one.name,
        one.durationMs,
        one.httpStatus,
        one.tokens,
        one.failed,
        one.tools,
        one.models,
        one.conversation,
        one.user,
        // Not in the order of arrival.
        one.conversation && (at * 7) % 5,
        one.redacted,
      ],
    );
    const minute = minuteOfId(id);
    for (const tool of one.tools) await addValue(agentId, "tool", tool, minute);
    for (const model of one.models) await addValue(agentId, "model", model, minute);
    for (const rule of one.redacted ?? []) await addValue(agentId, "redacted", rule, minute);
    for (const { state, verdict, routing, test, version, outage, waiting } of one.runs) {
      const judged = state === "completed";
      if (judged) {
        await addValue(agentId, "outcome", `${testIds[test]} ${verdict}`, minute - (minute % 60));
        await addValue(agentId, "version", `${testIds[test]} ${version}`, minute - (minute % 60));
      }
      if (state === "pending" || state === "running") {
        await db.pool.query(
          "insert into queue (id, trace_id, agent_id, state, due_at, next_try_at) values ($1, $2, $3, $4, now(), $5)",
          [newId(), id, agentId, state, state === "running" && waiting ? new Date() : null],
        );
        continue;
      }
      await db.pool.query(
        `insert into runs (id, trace_id, agent_id, kind, state, due_at, verdict, routing, test_ids, outage_open,
          test_outcomes, test_versions)
        values ($1, $2, $3, 'passive', $4, now(), $5, $6, $7, $8, $9, $10)`,
        [
          newId(),
          id,
          agentId,
          state,
          judged ? verdict : null,
          judged ? routing : null,
          judged ? [testIds[test]] : null,
          judged && outage,
          judged ? verdict[0] : null,
          judged ? [version] : null,
        ],
      );
    }
    stored.push({ ...one, id, externalId });
  }
  return stored.reverse();
}

async function addValue(agentId: string, kind: string, value: string, minute: number): Promise<void> {
  await db.pool.query("insert into trace_values values ($1, $2, $3, $4) on conflict do nothing", [
    agentId,
    kind,
    value,
    minute,
  ]);
}

function passes(one: Stored, filters: TraceFilters): boolean {
  const latest = (...states: string[]) => one.runs.findLast(({ state }) => states.includes(state));
  const shown = latest("completed") ?? latest("pending", "running") ?? latest("error");
  const judged = shown?.state === "completed" ? shown : undefined;
  const received = began + one.hour * hourMs;
  const within = (value: number | null, min: number | undefined, max: number | undefined) =>
    (min === undefined && max === undefined) ||
    (value !== null && value >= (min ?? 0) && value <= (max ?? Number.POSITIVE_INFINITY));
  const is = (wanted: unknown, value: unknown) => wanted === undefined || wanted === value;
  return (
    is(filters.kind, one.kind) &&
    is(filters.path, one.path) &&
    is(filters.failed, one.failed) &&
    is(filters.httpStatus, one.httpStatus) &&
    is(filters.externalId, one.externalId) &&
    (filters.state === "waiting"
      ? shown?.state === "running" && shown.waiting
      : is(filters.state, shown?.state ?? "none")) &&
    is(filters.verdict, judged?.verdict) &&
    is(filters.routing, judged?.routing) &&
    is(filters.outage, judged?.outage ?? false) &&
    is(filters.testId, judged && testIds[judged.test]) &&
    is(filters.testOutcome, judged?.verdict) &&
    is(filters.testVersion, judged?.version) &&
    (filters.tool === undefined || one.tools.includes(filters.tool)) &&
    is(filters.conversationId, one.conversation) &&
    is(filters.userId, one.user) &&
    (filters.redacted === undefined || one.redacted?.includes(filters.redacted) === true) &&
    (filters.model === undefined || one.models.includes(filters.model)) &&
    (!filters.testIds || (judged !== undefined && filters.testIds.includes(testIds[judged.test]!))) &&
    within(received, filters.receivedFrom?.getTime(), undefined) &&
    (filters.receivedTo === undefined || received < filters.receivedTo.getTime()) &&
    within(one.durationMs, filters.durationMinMs, filters.durationMaxMs) &&
    within(one.tokens, filters.tokensMin, filters.tokensMax) &&
    (filters.text === undefined || one.name.toLowerCase().includes(filters.text.toLowerCase()))
  );
}

/** All pages: the ids shown, and the number of pages. */
async function walk<Row extends { id: string }>(
  page: (before: string, rowsMax: number) => Promise<{ rows: Row[]; reach: string | null }>,
  limit: number,
  from = newest,
): Promise<{ ids: string[]; pages: number }> {
  const ids: string[] = [];
  for (let before: string | null = from, pages = 1; ; pages++) {
    const { rows, reach } = await page(before, limit + 1);
    const shown = rows.slice(0, limit);
    ids.push(...shown.map(row => row.id));
    before = rows.length > limit ? shown.at(-1)!.id : reach;
    if (before === null) return { ids, pages };
  }
}

test("the list equals a naive filter, without duplicates and in the order of time, for any page and scan size", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(trace, { maxLength: 10 }),
      fc.array(fewFilters, { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 4 }),
      async (traces, filtersOfAll, limit, stretch) => {
        const { agentId } = await makeSender(db, { judged: false });
        const stored = await store(agentId, traces);
        for (const filters of filtersOfAll) {
          const { ids } = await walk(
            (before, rowsMax) => listTraces(db, agentId, filters, { before, rowsMax }, hurried(stretch)),
            limit,
          );
          const expected = stored.filter(one => passes(one, filters)).map(one => one.id);
          assert.deepEqual(ids, expected, JSON.stringify(filters));
          const upward = await walk(
            (after, rowsMax) => listTraces(db, agentId, filters, { after, rowsMax }, hurried(stretch)),
            limit,
            oldest,
          );
          assert.deepEqual(upward.ids, expected.toReversed(), JSON.stringify(filters));
        }
      },
    ),
    { numRuns: 60 },
  );
});

/** PostgreSQL tries five plans for given values before it may keep one for any. */
const times = 7;

test("a connection that keeps its plans lists what it listed before, of agents with many traces and with few", async () => {
  const kept = openFresh(url, 1);
  const [many, few] = fc.sample(fc.array(trace, { minLength: 40, maxLength: 40 }), { numRuns: 2, seed: 1 });
  const agents: { agentId: string; stored: Stored[] }[] = [];
  for (const traces of [many!, few!.slice(0, 3)]) {
    const { agentId } = await makeSender(db, { judged: false });
    agents.push({ agentId, stored: await store(agentId, traces) });
  }
  const alone = Object.entries(someOfEach).map(([name, value]) => ({ [name]: value }) as TraceFilters);
  for (const filters of [{}, ...alone, ...fc.sample(fewFilters, { numRuns: 40, seed: 1 })]) {
    for (let time = 0; time < times; time++) {
      for (const { agentId, stored } of agents) {
        const { ids } = await walk(
          (before, rowsMax) => listTraces(kept, agentId, filters, { before, rowsMax }, hurried(20)),
          10,
        );
        const expected = stored.filter(one => passes(one, filters)).map(one => one.id);
        assert.deepEqual(ids, expected, `${JSON.stringify(filters)}, time ${time}`);
      }
    }
  }
  await kept.close();
});

test("a list stops scanning when its time is up, and says where", async () => {
  const { agentId } = await makeSender(db, { judged: false });
  const plain = { path: "otlp", failed: false, httpStatus: 200, durationMs: 1, tokens: 1 } as const;
  const traces = Array.from({ length: 6 }, () => ({
    ...plain,
    kind: "live" as const,
    name: "x",
    tools: [],
    models: [],
    redacted: null,
    conversation: null,
    user: null,
    hour: 0,
    runs: [],
  }));
  const stored = await store(agentId, traces);
  const listing = { before: newest, rowsMax: 9 };
  const { rows, reach } = await listTraces(db, agentId, { text: "absent" }, listing, hurried(4));
  assert.deepEqual([rows, reach], [[], stored[3]!.id]);
  const patient = await listTraces(db, agentId, { text: "absent" }, listing, { ms: 60_000, stretch: 1 });
  assert.deepEqual(patient, { rows: [], reach: null });
});

test("every run of a test is found once, by scanning only the hours in which the test was evaluated", async () => {
  const { agentId } = await makeSender(db, { judged: false });
  const { id: testId } = await makeTestCase(db, agentId);
  const expected: string[] = [];
  for (let at = 0; at < 60; at++) {
    const madeAt = new Date(began + at * 20 * 60_000);
    const id = idAt(madeAt.getTime()).slice(0, -4) + String(at).padStart(4, "0");
    // In three of twenty hours.
    const judged = [1, 9, 19].includes(Math.floor(at / 3)) && at % 3 !== 1;
    await db.pool.query(
      `insert into runs (id, trace_id, agent_id, kind, state, due_at, created_at, test_ids)
      values ($1, $2, $3, 'passive', 'completed', now(), $4, $5)`,
      [id, randomUUID(), agentId, madeAt, [judged ? testId : testIds[0]]],
    );
    if (!judged) continue;
    expected.unshift(id);
    await db.pool.query(
      `insert into test_hours values ($3, $1, date_trunc('hour', $2::timestamptz), 1, 0, 0, 0, now(), 'passed')
      on conflict (agent_id, test_id, hour) do update set passed = test_hours.passed + 1`,
      [testId, madeAt, agentId],
    );
  }
  const list = (before: string, rowsMax: number) =>
    listRunsOfTest(db, { agentId, testId }, { before, rowsMax }, hurried(2));
  const { ids, pages } = await walk(list, 2);
  assert.deepEqual(ids, expected);
  assert.ok(pages < 15, `${pages} pages`);
});

test("the time in an id can be read back", () => {
  fc.assert(
    fc.property(fc.nat({ max: 2 ** 48 - 1 }), timeMs => {
      assert.equal(timeOfId(idAt(timeMs)), timeMs);
    }),
  );
});
