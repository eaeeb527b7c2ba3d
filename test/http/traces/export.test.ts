// Many traces at once: exporting them as JSON lines and CSV, and deleting them.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import Papa from "papaparse";
import { makeAgent, makeTest } from "../../support/app.ts";
import { canonicalBody, canonicalSpan } from "../../support/bodies.ts";
import { type StoredRun, storeTrace } from "../../support/stored-traces.ts";
import { world } from "../../support/world.ts";

const service = world({ roles: ["http"] });

async function store(agentId: string, prompt: string): Promise<string> {
  const attributes = { "gen_ai.prompt": prompt, "gen_ai.response.text": "Sure." };
  const body = canonicalBody(agentId, { spans: [canonicalSpan({ attributes })] });
  return await service.store(body);
}

const exported = (agentId: string, traceIds: string[], format: string) =>
  service.client.post(`/api/agents/${agentId}/traces/export`, { traceIds, format }).expect(200);

test("JSON lines have each trace whole, newest first, without those of others and deleted ones", async () => {
  const [agent, other] = [await makeAgent(service.owner), await makeAgent(service.owner)];
  const long = "why ".repeat(2_000);
  const [first, second] = [await store(agent.id, long), await store(agent.id, "=1+1")];
  const foreign = await store(other.id, "of another agent");
  const { body, headers } = await exported(agent.id, [first, foreign, randomUUID(), second, first], "jsonl");
  assert.equal(headers.get("x-trace-count"), "2");
  assert.match(headers.get("content-type")!, /^application\/jsonl/);
  assert.match(headers.get("content-disposition")!, /filename="traces\.jsonl"/);
  assert.ok(body.endsWith("\n"));
  const lines = body
    .trimEnd()
    .split("\n")
    .map((line: string) => JSON.parse(line));
  const whole = async (id: string) => await service.read(`/api/traces/${id}`);
  assert.deepEqual(lines, [await whole(second), await whole(first)]);
  assert.equal(lines[1]!.userInput, long);
});

test("a trace that is too large to be read at once has a line that says where to download it", async () => {
  const agent = await makeAgent(service.owner);
  const [large, small] = [await store(agent.id, "large"), await store(agent.id, "small")];
  await service.db.pool.query("update traces set batch_bytes = 33 * 1024 * 1024 where id = $1", [large]);
  const { body, headers } = await exported(agent.id, [large, small], "jsonl");
  const [first, second] = body
    .trimEnd()
    .split("\n")
    .map((line: string) => JSON.parse(line));
  assert.equal(first.id, small);
  const error = `This trace is too large to export. Download it from /api/traces/${large}/raw.`;
  assert.deepEqual(second, { id: large, error });
  assert.equal(headers.get("x-trace-count"), "2");
});

test("CSV has a line for each trace, and nothing that a spreadsheet would run", async () => {
  const agent = await makeAgent(service.owner);
  const { id: testId } = await makeTest(service.owner, agent.id, { name: "=HYPERLINK(1)" });
  const run = {
    state: "completed",
    verdict: "failed",
    counts: { passed: 2, failed: 1 },
    failedTestIds: [testId],
  } satisfies StoredRun;
  const ids = [
    await storeTrace(service.db, agent.id, { userInput: '=cmd, "quoted"\nnext line', run }),
    await storeTrace(service.db, agent.id, { userInput: null, durationMs: null, tokens: null }),
  ];
  const { body, headers } = await exported(agent.id, ids, "csv");
  assert.equal(headers.get("x-trace-count"), "2");
  const { data } = Papa.parse<Record<string, string>>(body, { header: true, skipEmptyLines: true });
  assert.deepEqual(
    data.map(({ id }) => id),
    [...ids].reverse(),
  );
  const [plain, failed] = data as [Record<string, string>, Record<string, string>];
  assert.deepEqual(
    [failed["user_input"], failed["verdict"], failed["tests_passed"], failed["tests_failed"]],
    ['\'=cmd, "quoted"\nnext line', "failed", "2", "1"],
  );
  assert.equal(failed["failed_tests"], "'=HYPERLINK(1)");
  assert.deepEqual([plain["user_input"], plain["duration_ms"], plain["verdict"]], ["", "", ""]);
});

test("chosen traces are deleted, those of other agents and accounts are not", async () => {
  const [agent, other] = [await makeAgent(service.owner), await makeAgent(service.owner)];
  const ids = [await store(agent.id, "one"), await store(agent.id, "two")];
  const kept = [await store(agent.id, "kept"), await store(other.id, "of another agent")];
  const path = `/api/agents/${agent.id}/traces/delete` as const;
  const traceIds = [...ids, kept[1], randomUUID()];
  assert.deepEqual((await service.client.post(path, { traceIds }).expect(200)).body, { deleted: 2 });
  assert.deepEqual((await service.client.post(path, { traceIds }).expect(200)).body, { deleted: 0 });
  for (const id of ids) await service.client.get(`/api/traces/${id}`).expect(404);
  for (const id of kept) await service.client.get(`/api/traces/${id}`).expect(200);
});

test("a request names between 1 and 1,000 traces", async () => {
  const agent = await makeAgent(service.owner);
  for (const traceIds of [[], ["1"], Array.from({ length: 1_001 }, () => randomUUID())]) {
    await service.client.post(`/api/agents/${agent.id}/traces/delete`, { traceIds }).expect(400);
    await service.client
      .post(`/api/agents/${agent.id}/traces/export`, { traceIds, format: "csv" })
      .expect(400);
  }
  const traceIds = [randomUUID()];
  await service.client.post(`/api/agents/${agent.id}/traces/export`, { traceIds, format: "xml" }).expect(400);
  const { body, headers } = await exported(agent.id, traceIds, "jsonl");
  assert.deepEqual([body, headers.get("x-trace-count")], ["", "0"]);
});
